package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RehashIT {
    /** One more than a table of 1,024 slots takes. */
    private static final int GROWING = 1_025;

    private static void fill(RedisCommands redis) {
        List<Object> hash = new ArrayList<>(List.of("HSET", "records"));
        List<Object> zset = new ArrayList<>(List.of("ZADD", "bucket"));
        for (int i = 0; i < GROWING; i++) {
            hash.addAll(List.of("job-" + i, "x"));
            zset.addAll(List.of(i, "job-" + i));
        }
        redis.call(hash.toArray());
        redis.call(zset.toArray());
        redis.call("HSET", "small", "a", "b");
        redis.call("SET", "text", "x");
    }

    @Test
    void shouldEndTheGrowthOfAllTables() throws InterruptedException {
        try (RedisServer server = RedisServer.start(RedisSettings.defaults().withDebugCommand());
                RedisCommands redis = server.connect()) {
            fill(redis);
            assertThat(Rehash.grows(redis, "records")).as("it grows").isTrue();
            assertThat(Rehash.grows(redis, "bucket")).as("it grows").isTrue();

            assertThat(Rehash.end(List.of(redis))).isEqualTo(new Rehash(3, 0L));
            assertThat(redis.number("HLEN", "records")).isEqualTo(GROWING);
        }
    }

    @Test
    void shouldSayWhenItCannotLook() throws InterruptedException {
        try (RedisServer server = RedisServer.start(RedisSettings.defaults());
                RedisCommands redis = server.connect()) {
            fill(redis);

            assertThat(Rehash.end(List.of(redis))).isEqualTo(new Rehash(3, null));
        }
    }
}

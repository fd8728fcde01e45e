package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A Redis that answers so late that the next look falls due while one is under way. */
class SlowLooksIT {
    private static final Duration LONG = Duration.ofSeconds(15);

    /** No hint is sent for a job that is due later than this: only a look finds it. */
    private static final long BEYOND_HINTS_MS = 3000;

    private final Runs runs = new Runs();

    @Test
    void shouldGoOnLookingWhenALookTookLongerThanItsPause() {
        try (RedisServer server = RedisServer.start();
                RedisCommands commands = server.connect()) {
            // Longer than the pause below: a look that fails is another matter.
            RedisOptions redis = Workers.ownNamespace(server.uri()).withReplyTimeout(Duration.ofSeconds(5));
            try (Jobs jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(1));
                    Workers workers = new Workers(redis)) {
                workers.start("n0", "orders", runs.handler("n0"));
                jobs.now("warm");
                await("warm").atMost(LONG).until(() -> runs.size() == 1);
                // From now on the shard is busy for a while, and looked at every busyLook: in this pause one look is
                // sent, and the
                // next falls due.
                long pauseMs = 3 * Workers.FAST.busyLook().toMillis();
                commands.call("CLIENT", "PAUSE", pauseMs, "ALL");
                assertThat(commands.call("PING")).as("answered after the pause").isEqualTo("PONG");

                jobs.schedule("later", jobs.nowMs() + BEYOND_HINTS_MS, "{}");
                await("found by a look").atMost(LONG).until(() -> runs.size() == 2);
                long boundMs = Workers.FAST.idleLook().toMillis() + 1000;
                assertThat(runs.worstLatenessMs()).isLessThan(boundMs);
            }
        }
    }
}

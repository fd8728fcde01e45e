package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RedisSentinelIT {

    static Stream<RedisBinary> programs() {
        return Programs.all();
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldFailOverToTheReplica(RedisBinary program) {
        RedisSentinel open;
        try (RedisSentinel set = RedisSentinel.start(program, RedisSettings.defaults())) {
            open = set;
            assertThat(set.sentinelUris()).hasSize(3);
            RedisServer primary = set.primary();
            assertThat(primary).isSameAs(set.servers().get(0));
            try (RedisCommands commands = primary.connect()) {
                commands.call("SET", "kept", "1");
                assertThat(commands.number("WAIT", 1, 5_000)).isEqualTo(1);
            }

            primary.kill();

            RedisServer replica = set.servers().get(1);
            await("the replica becomes the primary")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> set.primary() == replica);
            await("it takes writes").atMost(Duration.ofSeconds(10)).until(() -> {
                try (RedisCommands commands = replica.connect()) {
                    return "master".equals(commands.info("replication").get("role"));
                }
            });
            try (RedisCommands commands = replica.connect()) {
                assertThat(commands.text("GET", "kept")).isEqualTo("1");
            }
        }
        assertThat(open.servers()).noneMatch(RedisServer::isAlive);
        assertThat(open.sentinels()).noneMatch(RedisServer::isAlive);
    }
}

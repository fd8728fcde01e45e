package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RedisClusterIT {

    static Stream<RedisBinary> programs() {
        return Programs.all();
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldServeEverySlotAndFailOver(RedisBinary program) {
        RedisCluster open;
        try (RedisCluster cluster = RedisCluster.start(program, 3, 1, RedisSettings.defaults())) {
            open = cluster;
            assertThat(cluster.nodes()).hasSize(6);
            assertThat(cluster.uris()).hasSize(6).allMatch(uri -> uri.contains(cluster.password()));
            String[] keys = {"{a}", "{b}", "{c}", "{d}", "{e}"};
            try (RedisCommands commands = cluster.connect()) {
                for (String key : keys) {
                    assertThat(commands.call("SET", key, "1")).isEqualTo("OK");
                }
                assertThat(commands.texts("KEYS", "*")).as("one server knows").hasSizeLessThan(keys.length);
            }
            assertThat(cluster.callEach("KEYS", "*")).containsExactlyInAnyOrder(keys);
            RedisServer victim = cluster.primaryFor("{a}");
            assertThat(cluster.nodes().subList(0, 3)).contains(victim);
            try (RedisCommands commands = victim.connect()) {
                assertThat(commands.number("WAIT", 1, 5_000)).isEqualTo(1);
            }

            victim.kill();

            await("a replica takes over")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> cluster.primaryFor("{a}") != victim);
            cluster.awaitComplete();
            try (RedisCommands commands = cluster.primaryFor("{a}").connect()) {
                assertThat(commands.text("GET", "{a}")).isEqualTo("1");
            }

            victim.restart();
            cluster.awaitComplete();

            try (RedisCommands commands = victim.connect()) {
                assertThat(commands.info("replication")).containsEntry("role", "slave");
            }

            cluster.failOver("{a}");

            assertThat(cluster.primaryFor("{a}")).as("by agreement").isSameAs(victim);
        }
        assertThat(open.nodes())
                .noneMatch(RedisServer::isAlive)
                .allSatisfy(node -> assertThat(node.directory()).doesNotExist());
    }
}

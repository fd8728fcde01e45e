package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.source.SourceChooser;
import io.minutehand.source.SourceKind;
import org.junit.jupiter.api.Test;

class SharedRedisIT {

    @Test
    void shouldBeTheSameForAllTestsOfAJvmAndFlush() {
        RedisInstance shared = SharedRedis.get();
        assertThat(SharedRedis.get()).isSameAs(shared);
        try (RedisCommands commands = shared.connect()) {
            commands.call("SET", "a", "1");
            String digest = commands.text("SCRIPT", "LOAD", "return 1");

            SharedRedis.flush();

            assertThat(commands.call("GET", "a")).isNull();
            assertThat(commands.texts("SCRIPT", "EXISTS", String.valueOf(digest)))
                    .containsExactly("0");
        }
    }

    @Test
    void shouldRefuseAServerAtAnAddressThatHoldsDataOfSomebody() {
        try (RedisServer server = RedisServer.start()) {
            RedisInstance external = ExternalRedis.reach(server.uri());
            try (RedisCommands commands = external.connect()) {
                commands.call("SET", "precious", "1");
                assertThatThrownBy(() -> SharedRedis.claim(external))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("holds data")
                        .hasMessageNotContaining(server.password());
                commands.call("DEL", "precious");
            }

            SharedRedis.claim(external);

            try (RedisCommands commands = external.connect()) {
                commands.call("SET", "of-a-test", "1");
            }
            SharedRedis.claim(external);
            external.close();
            assertThat(server.isAlive()).isTrue();
        }
    }

    @Test
    void shouldReachAServerAtAnAddress() {
        try (RedisServer server = RedisServer.start();
                RedisInstance external = new RedisSource(
                                new SourceChooser.Choice<>(SourceKind.ADDRESS, server.uri(), null))
                        .open(RedisSettings.defaults());
                RedisCommands commands = external.connect()) {
            assertThat(external.kind()).isEqualTo(SourceKind.ADDRESS);
            assertThat(external.version()).isEqualTo(server.version());
            assertThat(external.describe()).contains("source=address").doesNotContain(server.password());
            assertThat(commands.call("PING")).isEqualTo("PONG");
        }
    }
}

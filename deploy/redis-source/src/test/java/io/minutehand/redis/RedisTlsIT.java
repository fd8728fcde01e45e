package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RedisTlsIT {

    static Stream<RedisBinary> programs() {
        return Programs.all();
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldServeTheAclUserOverTls(RedisBinary program) {
        requireTls(program);
        Path store;
        try (RedisTls tls = RedisTls.start(program, "~mh:* &mh:* +@all -flushall")) {
            store = tls.trustStore();
            try (RedisCommands commands = tls.connect()) {
                assertThat(commands.text("ACL", "WHOAMI")).isEqualTo(tls.user());
                assertThat(commands.call("SET", "mh:a", "1")).isEqualTo("OK");
                assertThatThrownBy(() -> commands.call("SET", "other", "1")).hasMessageStartingWith("NOPERM");
                assertThatThrownBy(() -> commands.call("FLUSHALL")).hasMessageStartingWith("NOPERM");
            }
            try (RedisCommands plain = tls.server().connect()) {
                assertThat(plain.text("GET", "mh:a")).isEqualTo("1");
            }
            assertThat(store).exists();
        }
        assertThat(store.getParent()).doesNotExist();
    }

    @Test
    void shouldNotBeTrustedByDefault() {
        requireTls(RedisBinary.locate());
        try (RedisTls tls = RedisTls.start()) {
            assertThatThrownBy(() -> RedisCommands.connect(tls.uri()))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageNotContaining(tls.userPassword());
        }
    }

    private static void requireTls(RedisBinary program) {
        boolean supported = RedisTls.supportedBy(program);
        if (System.getenv("CI") != null) {
            assertThat(supported)
                    .as("TLS in " + program.describe() + ", which CI must have")
                    .isTrue();
        }
        assumeTrue(supported, program.describe() + " was built without TLS");
    }
}

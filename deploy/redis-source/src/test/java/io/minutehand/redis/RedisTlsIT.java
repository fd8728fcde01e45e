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
        assumeTrue(RedisTls.supportedBy(program), "built without TLS");
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
        assumeTrue(RedisTls.supported(), "built without TLS");
        try (RedisTls tls = RedisTls.start()) {
            assertThatThrownBy(() -> RedisCommands.connect(tls.uri()))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageNotContaining(tls.userPassword());
        }
    }

    @Test
    void shouldFailUnderCiAndNotSkipWhereTlsIsMissing() {
        RedisBinary program = RedisBinary.embedded();

        assertThat(RedisTls.orFail(true, "true", program)).isTrue();
        assertThat(RedisTls.orFail(false, null, program)).isFalse();
        assertThatThrownBy(() -> RedisTls.orFail(false, "true", program))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("without TLS");
    }
}

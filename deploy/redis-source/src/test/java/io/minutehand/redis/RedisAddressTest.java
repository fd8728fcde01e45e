package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisAddressTest {

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "redis://localhost, localhost, 6379, -, -, false",
                "redis://127.0.0.1:7000, 127.0.0.1, 7000, -, -, false",
                "redis://:secret@h:1, h, 1, -, secret, false",
                "rediss://ann:s+e%40c@h:1, h, 1, ann, s+e@c, true",
                "redis://h:1/0, h, 1, -, -, false",
            })
    void shouldTakeAddressesApart(String text, String host, int port, String user, String password, boolean tls) {
        assertThat(RedisAddress.parse(text)).isEqualTo(new RedisAddress(host, port, user, password, tls));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost:6379", "http://:secret@h", "redis://", "redis://secret@h", "redis://:secret@ h:1"})
    void shouldRefuseOtherFormsWithoutShowingTheSecret(String text) {
        assertThatThrownBy(() -> RedisAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("redis://")
                .hasMessageNotContaining("secret");
    }

    @Test
    void shouldNotShowCredentials() {
        assertThat(RedisAddress.parse("rediss://ann:secret@h:1")).hasToString("rediss://h:1");
    }
}

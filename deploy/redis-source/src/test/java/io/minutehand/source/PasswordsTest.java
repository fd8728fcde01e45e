package io.minutehand.source;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PasswordsTest {

    @Test
    void shouldMakeADifferentPasswordEachTime() {
        assertThat(Passwords.random()).matches("[0-9a-f]{32}").isNotEqualTo(Passwords.random());
    }
}

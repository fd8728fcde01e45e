package io.minutehand.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobIdTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "0", "close_order:10086", "A.b_c:d@e+f=g-h", "-", "1:1.1:x"})
    void shouldTakeIds(String id) {
        assertThat(JobId.require(id)).isSameAs(id);
    }

    @Test
    void shouldTakeIdsUpToTheLimit() {
        assertThat(JobId.require("x".repeat(128))).hasSize(128);
        assertThatThrownBy(() -> JobId.require("x".repeat(129)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("129")
                .hasMessageContaining("1 to 128");
        assertThatThrownBy(() -> JobId.require(""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 0 characters");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a b",
                "a{b",
                "a}b",
                "a/b",
                "a\nb",
                "a\u0000b",
                "\u00e4",
                "a\ud800",
                "a*b",
                "a?b",
                "a[b",
                "a%b",
                "a,b",
                "\u0661"
            })
    void shouldNameACharacterThatAnIdMayNotHold(String id) {
        assertThatThrownBy(() -> JobId.require(id))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at position")
                .satisfies(refused -> assertThat(refused.getMessage()).isASCII().doesNotContain("\n", "\u0000"));
    }

    @Test
    void shouldMakeIdsThatDiffer() {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            ids.add(JobId.random());
        }

        assertThat(ids).hasSize(10_000).allMatch(id -> id.matches("[0-9a-f]{32}"));
    }

    @Test
    void shouldCutALongIdInItsMessage() {
        assertThatThrownBy(() -> JobId.require("y".repeat(1_000_000)))
                .satisfies(refused -> assertThat(refused.getMessage()).hasSizeLessThan(200));
    }
}

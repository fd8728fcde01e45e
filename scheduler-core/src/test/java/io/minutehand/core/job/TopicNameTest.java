package io.minutehand.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicNameTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "order.close.timeout", "a_b-c.9", "."})
    void shouldTakeNames(String topic) {
        assertThat(TopicName.require(topic)).isSameAs(topic);
    }

    @Test
    void shouldTakeNamesUpToTheLimit() {
        assertThat(TopicName.require("x".repeat(64))).hasSize(64);
        assertThatThrownBy(() -> TopicName.require("x".repeat(65)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("65")
                .hasMessageContaining("1 to 64");
        assertThatThrownBy(() -> TopicName.require("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TopicName.require(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("topic");
    }

    @ParameterizedTest
    @ValueSource(strings = {"A", "a:b", "{a}", "a b", "a\n", "\u00e4", "a@b", "a+b", "a=b", "a\ud83d\ude00"})
    void shouldNameACharacterThatANameMayNotHold(String topic) {
        assertThatThrownBy(() -> TopicName.require(topic))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at position")
                .satisfies(refused -> assertThat(refused.getMessage()).isASCII().doesNotContain("\n"));
    }
}

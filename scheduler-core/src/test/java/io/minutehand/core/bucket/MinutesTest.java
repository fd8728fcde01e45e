package io.minutehand.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MinutesTest {
    @Test
    void shouldCutToTheMinute() {
        assertThat(Minutes.of(0)).isZero();
        assertThat(Minutes.of(59_999)).isZero();
        assertThat(Minutes.of(60_000)).isEqualTo(1);
        assertThat(Minutes.of(-1)).isEqualTo(-1);
        assertThat(Minutes.startMs(28_333_333)).isEqualTo(1_699_999_980_000L);
    }

    @Test
    void shouldLabelByTheDueTimeButNotBeforeNow() {
        assertThat(Minutes.label(120_000, 60_000)).isEqualTo(2);
        assertThat(Minutes.label(60_000, 120_000)).isEqualTo(2);
        assertThat(Minutes.label(119_999, 119_998)).isEqualTo(1);
    }
}

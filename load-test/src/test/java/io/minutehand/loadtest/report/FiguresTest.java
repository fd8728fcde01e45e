package io.minutehand.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class FiguresTest {
    @Test
    void shouldTakeTheMiddleOneOrTheMeanOfTheTwoInTheMiddle() {
        assertThat(Figures.median(DoubleStream.of(9, 1, 2))).isEqualTo(2);
        assertThat(Figures.median(DoubleStream.of(9, 1, 2, 4))).isEqualTo(3);
        assertThat(Figures.median(DoubleStream.of(1.23456))).isEqualTo(1.235);
        assertThatIllegalArgumentException().isThrownBy(() -> Figures.median(DoubleStream.empty()));
    }
}

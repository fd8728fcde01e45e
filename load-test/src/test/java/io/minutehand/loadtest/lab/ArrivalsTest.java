package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ArrivalsTest {
    @Test
    void shouldSpreadSteadyJobsByTheRate() {
        assertThat(Arrivals.STEADY.offsetUs(0, 500)).isZero();
        assertThat(Arrivals.STEADY.offsetUs(1, 500)).isEqualTo(2_000);
        assertThat(Arrivals.STEADY.offsetUs(1_000_000, 500)).isEqualTo(2_000_000_000L);
    }

    @Test
    void shouldPutABurstOnOneTime() {
        assertThat(Arrivals.BURST.offsetUs(99_999, 500)).isZero();
    }

    @Test
    void shouldPutHalfOfEachMinuteIntoItsFirstSecond() {
        double rate = 10;
        for (int minute = 0; minute < 3; minute++) {
            long fromUs = minute * 60_000_000L;
            long first = minute * 600L;
            assertThat(LongStream.range(first, first + 600)
                            .filter(number -> {
                                long us = Arrivals.HOT_MINUTE.offsetUs(number, rate) - fromUs;
                                return us >= 0 && us < 1_000_000;
                            })
                            .count())
                    .isEqualTo(300);
            assertThat(Arrivals.HOT_MINUTE.offsetUs(first + 599, rate) - fromUs).isLessThan(60_000_000);
        }
    }

    @ParameterizedTest
    @EnumSource(Arrivals.class)
    void shouldNeverGoBack(Arrivals arrivals) {
        for (double rate : new double[] {0.01, 1, 333, 50_000}) {
            long beforeUs = -1;
            for (long number = 0; number < 2_000; number++) {
                long us = arrivals.offsetUs(number, rate);
                assertThat(us).as("job %d at rate %s", number, rate).isGreaterThanOrEqualTo(beforeUs);
                beforeUs = us;
            }
        }
    }
}

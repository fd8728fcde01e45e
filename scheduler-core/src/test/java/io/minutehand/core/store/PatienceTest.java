package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PatienceTest {
    private static final long MS = 1_000_000;

    private final Patience patience = new Patience();

    private void answered(int times, long ms) {
        for (int i = 0; i < times; i++) {
            patience.answered(ms * MS);
        }
    }

    @Test
    void shouldBeATenthOfASecondBeforeAnyAnswerAndWhileAnswersAreQuick() {
        assertThat(patience.twinNs(1)).isEqualTo(100 * MS);
        answered(1_000, 2);
        assertThat(patience.twinNs(1)).isEqualTo(100 * MS);
    }

    @Test
    void shouldGrowWhenRedisIsSlow() {
        answered(1, 150);
        assertThat(patience.twinNs(1)).as("one answer is all that is known").isEqualTo(300 * MS);
        answered(1_000, 200);
        assertThat(patience.twinNs(1)).isEqualTo(400 * MS);
    }

    @Test
    void shouldNotBeRaisedByAFewAnswersThatWaitedForAConnection() {
        for (int i = 0; i < 100; i++) {
            answered(19, 1);
            answered(1, 900);
        }
        assertThat(patience.twinNs(1)).isEqualTo(100 * MS);
    }

    @Test
    void shouldSayWhenEachTwinIsDue() {
        answered(1, 100);
        assertThat(patience.twinNs(1)).isEqualTo(200 * MS);
        assertThat(patience.twinNs(2)).isEqualTo(600 * MS);
    }

    @Test
    void shouldForgetATimeInWhichRedisWasSlow() {
        answered(64, 500);
        answered(60, 1);
        assertThat(patience.twinNs(1)).isEqualTo(100 * MS);
    }
}

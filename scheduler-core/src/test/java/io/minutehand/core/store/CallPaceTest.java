package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallPaceTest {
    private static final long MS = 1_000_000;

    /** Any origin: nanoTime has none. */
    private static final long BEGIN = Long.parseLong("9223372036754775807") - 100 * MS;

    private final CallPace pace = new CallPace(3 * MS, 4 * MS, BEGIN);

    private long pauseAfter(int jobsACall, long everyNs, int calls) {
        long nowNs = BEGIN;
        for (int i = 0; i < calls; i++) {
            nowNs += everyNs;
            pace.sent(jobsACall, nowNs);
        }
        return pace.nextNs() - nowNs;
    }

    @ParameterizedTest(name = "{0} jobs every {1} us")
    @CsvSource({"1, 16000", "1, 4000", "1, 2000"})
    void shouldDelayNoJobWhileJobsFlowSlowly(int jobs, long everyUs) {
        assertThat(pauseAfter(jobs, everyUs * 1_000, 1_000)).isLessThan(everyUs * 1_000);
    }

    @Test
    void shouldLetSeveralJobsShareACallWhenTheyFlowFast() {
        assertThat(pauseAfter(5, 4 * MS, 1_000)).isBetween(4 * MS, 5 * MS);
    }

    @Test
    void shouldPauseNoLongerThanItsLimit() {
        assertThat(pauseAfter(500, MS, 1_000)).isBetween(4 * MS, 5 * MS);
    }

    @Test
    void shouldEndLongPausesOnWholeMilliseconds() {
        pauseAfter(500, MS + 123, 1_000);

        assertThat(Math.floorMod(pace.nextNs(), MS)).isZero();
    }

    @Test
    void shouldForgetWhatFlowedBefore() {
        assertThat(pauseAfter(500, MS, 1_000)).isGreaterThanOrEqualTo(4 * MS);
        pace.sent(1, BEGIN + 3_000 * MS);

        assertThat(pace.nextNs() - (BEGIN + 3_000 * MS)).isLessThan(MS);
    }

    @Test
    void shouldNotTakeOneBurstForAFlow() {
        pace.sent(1, BEGIN + 1_000 * MS);
        pace.sent(10, BEGIN + 1_001 * MS);

        assertThat(pace.nextNs() - (BEGIN + 1_001 * MS)).isLessThan(MS / 2);
    }
}

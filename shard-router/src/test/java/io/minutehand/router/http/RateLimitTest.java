package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RateLimitTest {
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long START = Long.MAX_VALUE - 5_000 * MS; // nanoTime may overflow

    private final RateLimit limit = new RateLimit(100, 10, START);

    @Test
    void shouldAllowABurstAndThenTheRate() {
        for (int i = 0; i < 10; i++) {
            assertThat(limit.take(1, START)).isZero();
        }
        assertThat(limit.take(1, START)).isEqualTo(10 * MS);
        assertThat(limit.take(1, START + 9 * MS)).isEqualTo(MS);
        assertThat(limit.take(1, START + 10 * MS)).isZero();
        assertThat(limit.take(1, START + 10 * MS)).isPositive();
    }

    @Test
    void shouldHoldTheRateInTheLongRun() {
        int taken = 0;
        for (long ms = 0; ms < 10_000; ms++) {
            taken += limit.take(1, START + ms * MS) == 0 ? 1 : 0;
        }
        assertThat(taken).isBetween(1000, 1010);
    }

    @Test
    void shouldLetABatchThroughThatIsLargerThanTheBucketAndMakeItPay() {
        assertThat(limit.take(500, START)).isZero();
        assertThat(limit.take(1, START + 4000 * MS)).isPositive();
        assertThat(limit.take(1, START + 4910 * MS)).isZero();
    }

    @Test
    void shouldKeepWhatIsTakenWhenTheRateChanges() {
        limit.take(4, START);
        RateLimit slower = limit.changed(10, 5, START);
        assertThat(slower.take(1, START)).isZero();
        assertThat(slower.take(1, START)).isEqualTo(100 * MS);
        assertThat(limit.changed(100, 10, START)).isSameAs(limit);

        limit.take(500, START + 100 * MS);
        assertThat(limit.changed(10, 5, START + 100 * MS).take(1, START + 200 * MS))
                .as("no more is owed than the bucket holds")
                .isZero();
    }
}

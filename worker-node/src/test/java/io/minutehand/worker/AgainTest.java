package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.minutehand.core.job.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class AgainTest {
    private static final long NOW_MS = 1_800_000_000_000L;

    @Test
    void shouldRunAgainAtTheInstant() {
        assertThat(Again.at(Instant.ofEpochMilli(NOW_MS + 5)).dueMs(NOW_MS)).isEqualTo(NOW_MS + 5);
    }

    @Test
    void shouldNotRunAgainBeforeAnInstantInsideAMillisecond() {
        Instant inside = Instant.ofEpochMilli(NOW_MS + 5).plusNanos(1);
        assertThat(Again.at(inside).dueMs(NOW_MS)).isEqualTo(NOW_MS + 6);
    }

    @Test
    void shouldMeanNowWhenTheInstantIsPast() {
        assertThat(Again.at(Instant.EPOCH).dueMs(NOW_MS)).isEqualTo(NOW_MS);
        assertThat(Again.at(Instant.MIN).dueMs(NOW_MS)).isEqualTo(NOW_MS);
    }

    @Test
    void shouldCountADelayFromTheEndOfTheHandler() {
        assertThat(Again.after(Duration.ofSeconds(2)).dueMs(NOW_MS)).isEqualTo(NOW_MS + 2000);
        assertThat(Again.after(Duration.ofNanos(1)).dueMs(NOW_MS)).isEqualTo(NOW_MS + 1);
        assertThat(Again.after(Duration.ofSeconds(-2)).dueMs(NOW_MS)).isEqualTo(NOW_MS);
        assertThat(Again.after(Duration.ofSeconds(Long.MIN_VALUE)).dueMs(NOW_MS))
                .isEqualTo(NOW_MS);
    }

    @Test
    void shouldRefuseATimeBeyondTheHorizonAndNameIt() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Again.at(Instant.MAX))
                .withMessageContaining(Limits.HORIZON.toString());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Again.after(ChronoUnit.FOREVER.getDuration()))
                .withMessageContaining(Limits.HORIZON.toString());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Again.after(Limits.HORIZON.plusMillis(1)))
                .withMessageContaining("allowed");
        assertThat(Again.after(Limits.HORIZON).dueMs(NOW_MS)).isEqualTo(NOW_MS + Limits.HORIZON.toMillis());
    }
}

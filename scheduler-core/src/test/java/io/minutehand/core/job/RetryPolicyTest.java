package io.minutehand.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
    @Test
    void shouldGrowByTheSquareByDefault() {
        assertThat(delays(RetryPolicy.quadratic())).containsExactly(1000L, 4000L, 9000L, 16_000L, 25_000L);
        assertThat(RetryPolicy.quadratic().maxAttempts()).isEqualTo(6);
        assertThat(delays(RetryPolicy.quadratic(100))).hasSize(100).endsWith(3_600_000L);
    }

    @Test
    void shouldDoubleUpToTheLongest() {
        assertThat(delays(RetryPolicy.exponential(Duration.ofMillis(100), Duration.ofSeconds(1), 6)))
                .containsExactly(100L, 200L, 400L, 800L, 1000L, 1000L);
        assertThat(delays(RetryPolicy.exponential(Duration.ofMillis(1), Duration.ofHours(1), 1000)))
                .hasSize(1000)
                .endsWith(3_600_000L);
    }

    @Test
    void shouldStayTheSame() {
        assertThat(delays(RetryPolicy.fixed(Duration.ofMillis(500), 3))).containsExactly(500L, 500L, 500L);
    }

    @Test
    void shouldGiveUpAtOnce() {
        assertThat(RetryPolicy.none().delayAfter(1, 0)).isEmpty();
        assertThat(RetryPolicy.none().maxAttempts()).isOne();
        assertThat(RetryPolicy.fixed(Duration.ofSeconds(1), 0).delayAfter(1, 0)).isEmpty();
    }

    @Test
    void shouldDrawDelaysDownwardsByTheJitter() {
        RetryPolicy jittered = RetryPolicy.fixed(Duration.ofSeconds(10), 2).withJitter(0.25);

        assertThat(jittered.delayAfter(1, 0)).contains(Duration.ofSeconds(10));
        assertThat(jittered.delayAfter(1, 1)).contains(Duration.ofMillis(7500));
        assertThat(jittered.withJitter(1).delayAfter(1, 1)).as("never nothing").contains(Duration.ofMillis(1));
    }

    @Test
    void shouldRefuseWhatIsOutOfRange() {
        refused(() -> RetryPolicy.quadratic(-1), "retries=-1", "0 to 1000");
        refused(() -> RetryPolicy.quadratic(1001), "retries=1001", "0 to 1000");
        refused(() -> RetryPolicy.fixed(Duration.ZERO, 1), "PT0S", "1 ms or more");
        refused(() -> RetryPolicy.fixed(Duration.ofNanos(999_999), 1), "1 ms or more");
        refused(() -> RetryPolicy.exponential(Duration.ofSeconds(2), Duration.ofSeconds(1), 1), "PT2S", "PT1S");
        refused(() -> RetryPolicy.quadratic().withJitter(1.01), "jitter=1.01", "0 to 1");
        refused(() -> RetryPolicy.quadratic().withJitter(-0.01), "jitter");
        refused(() -> RetryPolicy.quadratic().withJitter(Double.NaN), "jitter=NaN");
    }

    private static void refused(Runnable act, String... parts) {
        assertThatThrownBy(act::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(parts);
    }

    private static List<Long> delays(RetryPolicy policy) {
        List<Long> delays = new ArrayList<>();
        for (int attempt = 1; ; attempt++) {
            Optional<Duration> delay = policy.delayAfter(attempt, 0.5);
            if (delay.isEmpty()) {
                assertThat(policy.maxAttempts()).isEqualTo(attempt);
                return delays;
            }
            delays.add(delay.get().toMillis());
        }
    }

    @Test
    void shouldRefuseDelaysBeyondTheHorizon() {
        java.time.Duration forever = java.time.temporal.ChronoUnit.FOREVER.getDuration();
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> RetryPolicy.exponential(java.time.Duration.ofMillis(10), forever, 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("horizon");
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> RetryPolicy.fixed(forever, 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("horizon");
    }

    @Test
    void shouldRefuseDelaysThatCannotBeStoredEvenWithoutRetries() {
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        refused(() -> new RetryPolicy(RetryPolicy.Kind.NONE, 0, endless, Duration.ZERO, 0), "first delay", "horizon");
        refused(
                () -> new RetryPolicy(RetryPolicy.Kind.NONE, 0, Duration.ZERO, endless.negated(), 0),
                "longest delay",
                "horizon");
    }

    @Test
    void shouldBeCutToWhatIsStored() {
        assertThat(RetryPolicy.fixed(Duration.ofNanos(1_500_000), 1))
                .isEqualTo(RetryPolicy.fixed(Duration.ofMillis(1), 1));
    }
}

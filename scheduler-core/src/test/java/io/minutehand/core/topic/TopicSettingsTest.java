package io.minutehand.core.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.RetryPolicy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TopicSettingsTest {
    private final TopicSettings defaults = TopicSettings.defaults();

    @Test
    void shouldHaveTheDefaultsThatTheReadmeNames() {
        assertThat(defaults.shards()).isEqualTo(8);
        assertThat(defaults.visibility()).isEqualTo(Duration.ofSeconds(30));
        assertThat(defaults.handlerTimeout()).isEqualTo(Duration.ofMinutes(5));
        assertThat(defaults.retention()).isEqualTo(Duration.ofSeconds(60));
        assertThat(defaults.deadLimit()).isEqualTo(100_000);
        assertThat(defaults.deadAge()).isEqualTo(Duration.ofDays(30));
        assertThat(defaults.delivery()).isEqualTo(Delivery.AT_LEAST_ONCE);
        assertThat(defaults.retry()).isEqualTo(RetryPolicy.quadratic(5));
    }

    @Test
    void shouldNameWhatIsOutOfRange() {
        refused(() -> defaults.withShards(0), "shards=0", "1 to 1024");
        refused(() -> defaults.withShards(1025), "shards=1025", "1 to 1024");
        refused(() -> defaults.withVisibility(Duration.ofMillis(999)), "visibility=PT0.999S", "PT1S to PT87672H");
        refused(() -> defaults.withHandlerTimeout(Duration.ZERO), "handlerTimeout=PT0S", "PT0.001S to PT87672H");
        refused(() -> defaults.withRetention(Duration.ofMillis(11_999)), "retention=PT11.999S", "PT12S");
        refused(() -> defaults.withRetention(Duration.ofSeconds(-1)), "retention=PT-1S");
        refused(() -> defaults.withDeadLimit(0), "deadLimit=0", "1 and more");
        refused(() -> defaults.withDeadAge(Duration.ofMillis(999)), "deadAge=PT0.999S", "PT1S to PT87672H");
        assertThat(defaults.withRetention(Duration.ZERO).retention()).isZero();
        assertThat(defaults.withRetention(TopicSettings.SHORTEST_RETENTION).retention())
                .isEqualTo(Duration.ofSeconds(12));
    }

    @Test
    void shouldNameWhatIsMissing() {
        missing(() -> defaults.withVisibility(null), "visibility");
        missing(() -> defaults.withHandlerTimeout(null), "handlerTimeout");
        missing(() -> defaults.withRetention(null), "retention");
        missing(() -> defaults.withDeadAge(null), "deadAge");
        missing(() -> defaults.withDelivery(null), "delivery");
        missing(() -> defaults.withRetry(null), "retry");
        missing(() -> RetryPolicy.fixed(null, 1), "first");
        missing(() -> RetryPolicy.exponential(Duration.ofSeconds(1), null, 1), "max");
    }

    private static void missing(Runnable act, String name) {
        assertThatThrownBy(act::run).isInstanceOf(NullPointerException.class).hasMessage(name);
    }

    @Test
    void shouldGiveEachShardItsShareOfTheDeadLettersRoundedUp() {
        assertThat(defaults.withDeadLimit(16).deadLimitPerShard()).isEqualTo(2);
        assertThat(defaults.withDeadLimit(17).deadLimitPerShard()).isEqualTo(3);
        assertThat(defaults.withDeadLimit(1).deadLimitPerShard()).isEqualTo(1);
        assertThat(defaults.withDeadLimit(Integer.MAX_VALUE).deadLimitPerShard())
                .isEqualTo(268_435_456);
    }

    private static void refused(Runnable act, String... parts) {
        assertThatThrownBy(act::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(parts);
    }

    @Test
    void shouldRefuseDurationsThatNoClockCounts() {
        java.time.Duration forever = java.time.temporal.ChronoUnit.FOREVER.getDuration();
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> TopicSettings.defaults().withVisibility(forever))
                .isInstanceOf(IllegalArgumentException.class);
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> TopicSettings.defaults().withRetention(forever))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseDurationsBeforeTheBeginningOfTime() {
        Duration endless = Duration.ofSeconds(Long.MIN_VALUE);
        refused(() -> defaults.withVisibility(endless), "visibility", "PT1S to PT87672H");
        refused(() -> defaults.withHandlerTimeout(endless), "handlerTimeout", "PT0.001S to PT87672H");
        refused(() -> defaults.withRetention(endless), "retention", "PT12S");
        refused(() -> defaults.withDeadAge(endless), "deadAge", "PT1S to PT87672H");
    }

    @Test
    void shouldBeCutToWhatIsStored() {
        TopicSettings fine = defaults.withVisibility(Duration.ofNanos(1_000_500_000))
                .withHandlerTimeout(Duration.ofNanos(1_500_000))
                .withRetention(Duration.ofNanos(12_000_500_000L))
                .withDeadAge(Duration.ofNanos(1_000_500_000));

        assertThat(fine)
                .isEqualTo(defaults.withVisibility(Duration.ofSeconds(1))
                        .withHandlerTimeout(Duration.ofMillis(1))
                        .withRetention(Duration.ofSeconds(12))
                        .withDeadAge(Duration.ofSeconds(1)));
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.minutehand.core.job.RetryPolicy;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class WorkerSettingsTest {
    private static final WorkerSettings GOOD = WorkerSettings.defaults();

    private static void refused(ThrowingCallable made, String... parts) {
        assertThatIllegalArgumentException()
                .isThrownBy(made)
                .satisfies(e -> assertThat(e.getMessage()).contains(parts));
    }

    private static WorkerSettings times(Duration lease, Duration renew, Duration beat, Duration deadAfter) {
        return new WorkerSettings(
                8,
                lease,
                renew,
                beat,
                deadAfter,
                GOOD.claimAhead(),
                GOOD.busyLook(),
                GOOD.idleLook(),
                GOOD.stopGrace());
    }

    private static WorkerSettings looks(Duration claimAhead, Duration busyLook, Duration idleLook) {
        return new WorkerSettings(
                8,
                GOOD.lease(),
                GOOD.renew(),
                GOOD.beat(),
                GOOD.deadAfter(),
                claimAhead,
                busyLook,
                idleLook,
                GOOD.stopGrace());
    }

    @Test
    void shouldHaveTheDefaultsOfTheDesign() {
        assertThat(GOOD)
                .isEqualTo(new WorkerSettings(
                        64,
                        Duration.ofSeconds(6),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(3),
                        Duration.ofMillis(250),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(30)));
        assertThat(GOOD.trustMargin()).isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void shouldKeepTheProportionsWhenOneTimeIsChanged() {
        WorkerSettings fast = GOOD.withLease(Duration.ofSeconds(2)).withDeadAfter(Duration.ofMillis(1500));
        assertThat(fast.renew().multipliedBy(3)).isLessThanOrEqualTo(fast.lease());
        assertThat(fast.beat()).isEqualTo(Duration.ofMillis(300));
        assertThat(fast.withSlots(3).slots()).isEqualTo(3);
        assertThat(fast.withStopGrace(Duration.ZERO).stopGrace()).isZero();
    }

    @Test
    void shouldRefuseSlotsOutOfRange() {
        refused(() -> GOOD.withSlots(0), "slots=0", "1 to 10000");
        refused(() -> GOOD.withSlots(10_001), "slots=10001", "1 to 10000");
    }

    @Test
    void shouldRefuseALeaseThatTwoLostRenewalsWouldEnd() {
        refused(
                () -> times(Duration.ofSeconds(5), Duration.ofSeconds(2), GOOD.beat(), GOOD.deadAfter()),
                "lease=PT5S",
                "renew=PT2S",
                "raise lease");
        refused(
                () -> times(Duration.ofSeconds(6), Duration.ofMillis(5), GOOD.beat(), GOOD.deadAfter()),
                "renew=PT0.005S",
                "10 ms or more");
        refused(() -> GOOD.withLease(Duration.ZERO), "renew=PT0S", "10 ms or more");
        refused(() -> GOOD.withLease(Duration.ofSeconds(-6)), "renew=PT-2S", "10 ms or more");
    }

    @Test
    void shouldNotCallAConditionBrokenThatHolds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> times(Duration.ofSeconds(6), Duration.ofMillis(5), GOOD.beat(), GOOD.deadAfter()))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("< 3 x"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> times(GOOD.lease(), GOOD.renew(), Duration.ofMillis(1), GOOD.deadAfter()))
                .satisfies(e ->
                        assertThat(e.getMessage()).contains("beat=PT0.001S").doesNotContain("< 3 x"));
    }

    @Test
    void shouldRefuseAVerdictThatAShortPauseWouldBring() {
        refused(
                () -> times(GOOD.lease(), GOOD.renew(), Duration.ofSeconds(2), Duration.ofSeconds(5)),
                "deadAfter=PT5S",
                "beat=PT2S",
                "raise deadAfter");
    }

    @Test
    void shouldRefuseLooksThatWouldMissAMinuteOrAHint() {
        refused(
                () -> looks(Duration.ofSeconds(1), GOOD.busyLook(), GOOD.idleLook()),
                "claimAhead=PT1S",
                "idleLook=PT2S",
                "raise claimAhead");
        refused(() -> looks(GOOD.claimAhead(), Duration.ofMillis(5), GOOD.idleLook()), "busyLook=PT0.005S");
        refused(() -> looks(GOOD.claimAhead(), Duration.ofSeconds(2), Duration.ofSeconds(1)), "busyLook=PT2S");
        refused(() -> looks(Duration.ofSeconds(9), GOOD.busyLook(), Duration.ofSeconds(3)), "idleLook=PT3S", "PT2.5S");
    }

    @Test
    void shouldRefuseAGraceThatIsNegativeOrEndless() {
        refused(() -> GOOD.withStopGrace(Duration.ofSeconds(-1)), "stopGrace=PT-1S");
        refused(() -> GOOD.withStopGrace(ChronoUnit.FOREVER.getDuration()), "stopGrace=", "PT24H");
    }

    @Test
    void shouldRefuseTopicOptionsOutOfRange() {
        TopicOptions good = TopicOptions.defaults();
        refused(() -> good.concurrency(-1), "concurrency=-1", "0 (all slots) or more");
        refused(() -> good.timeout(Duration.ZERO), "timeout=PT0S", "1 ms or more");
        refused(() -> good.timeout(Duration.ofMillis(-5)), "timeout=PT-0.005S");
        assertThat(good.timeout(ChronoUnit.FOREVER.getDuration()).timeout()).isPositive();
        assertThat(good.concurrency(3).retry(RetryPolicy.none()).concurrency()).isEqualTo(3);
        assertThat(good.retry()).isNull();
    }

    @Test
    void shouldRefuseTimesThatWouldKeepBucketsOfADeadNode() {
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> WorkerSettings.defaults().withLease(java.time.Duration.ofDays(36_500_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lease");
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> WorkerSettings.defaults().withDeadAfter(java.time.Duration.ofSeconds(Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("deadAfter");
    }

    @Test
    void shouldRefuseMissingPartsOfANodeAtOnce() {
        WorkerNode.Builder node = WorkerNode.builder();
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> node.handle("orders", (TopicOptions) null, (payload, job) -> {}))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("options");
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> node.handle("orders", (JobHandler<byte[]>) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("handler");
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> node.name("two\nlines"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("control character");
    }
}

package io.minutehand.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.telemetry.Telemetry.Gauge;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class RecordersTest {
    private final Recorders recorders = new Recorders();

    @Test
    void shouldKeepHowMeasuresStand() {
        recorders.gauge(Gauge.LEDGER_DIFF, "a", 5);
        recorders.gauge(Gauge.LEDGER_DIFF, "a", 2);
        recorders.gauge(Gauge.ORPHANS, "b", 1);

        assertThat(recorders.gauged(Gauge.LEDGER_DIFF, "a")).isEqualTo(2);
        assertThat(recorders.gauged(Gauge.ORPHANS, "a")).isZero();
        assertThat(recorders.gauged(Gauge.ORPHANS, "b")).isEqualTo(1);
        assertThat(recorders.gauged(Gauge.ORPHANS, "unheard-of")).isZero();
    }

    @Test
    void shouldCountByTopicAndInAll() {
        recorders.count(Counter.DONE, "a", 2);
        recorders.count(Counter.DONE, "b", 3);
        recorders.count(Counter.DEAD, "a", 1);
        recorders.count(Counter.DONE, "a", 1);

        assertThat(recorders.counted(Counter.DONE, "a")).isEqualTo(3);
        assertThat(recorders.counted(Counter.DONE)).isEqualTo(6);
        assertThat(recorders.counted(Counter.DEAD, "b")).isZero();
        assertThat(recorders.counted(Counter.STUCK)).isZero();
        assertThat(recorders.counted(Counter.DONE, "unheard-of")).isZero();
    }

    @Test
    void shouldKeepAllValuesOverSeveralLooks() {
        recorders.lateness("a", 1000);
        assertThat(recorders.latenessSoFar().get("a").getTotalCount()).isOne();
        recorders.lateness("a", 3000);
        recorders.lateness("b", 5);

        Histogram seen = recorders.latenessSoFar().get("a");

        assertThat(seen.getTotalCount()).isEqualTo(2);
        assertThat(seen.getMaxValue()).isBetween(3000L, 3003L);
        assertThat(recorders.latenessSoFar()).containsOnlyKeys("a", "b");
        assertThat(recorders.handlerTimeSoFar()).isEmpty();
        seen.reset();
        assertThat(recorders.latenessSoFar().get("a").getTotalCount())
                .as("what it gives is a copy")
                .isEqualTo(2);
    }

    @Test
    void shouldPutValuesOutOfRangeAtItsEnds() {
        recorders.handlerTime("a", -5);
        recorders.handlerTime("a", Long.MAX_VALUE);

        Histogram seen = recorders.handlerTimeSoFar().get("a");

        assertThat(seen.getMinValue()).isZero();
        assertThat(seen.getMaxValue()).isGreaterThanOrEqualTo(3_600_000_000L);
    }
}

package io.minutehand.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.telemetry.Telemetry.Gauge;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MicrometerTelemetryTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final MicrometerTelemetry telemetry = new MicrometerTelemetry(registry);

    @Test
    void shouldCountUnderTheNamesOfTheCounters() {
        telemetry.count(Counter.SCHEDULE_FAILED, "a", 2);
        telemetry.count(Counter.SCHEDULE_FAILED, "a", 1);
        telemetry.count(Counter.STORE_ERRORS, "", 1);

        assertThat(registry.get("minutehand.schedule.failed")
                        .tag("topic", "a")
                        .counter()
                        .count())
                .isEqualTo(3);
        assertThat(registry.get("minutehand.store.errors")
                        .tag("topic", "")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.getMeters()).hasSize(2);
    }

    @Test
    void shouldShowHowAMeasureStandsNow() {
        telemetry.gauge(Gauge.LEDGER_DIFF, "a", 3);
        telemetry.gauge(Gauge.LEDGER_DIFF, "b", 1);
        telemetry.gauge(Gauge.LEDGER_DIFF, "a", 2);
        telemetry.gauge(Gauge.ORPHANS, "a", 7);
        System.gc();

        assertThat(registry.get("minutehand.ledger.diff")
                        .tag("topic", "a")
                        .gauge()
                        .value())
                .isEqualTo(2);
        assertThat(registry.get("minutehand.ledger.diff")
                        .tag("topic", "b")
                        .gauge()
                        .value())
                .isEqualTo(1);
        assertThat(registry.get("minutehand.orphans").tag("topic", "a").gauge().value())
                .isEqualTo(7);
        assertThat(registry.getMeters()).hasSize(3);
    }

    @Test
    void shouldTimeLatenessAndHandlersByTopic() {
        telemetry.lateness("a", 1500);
        telemetry.lateness("a", 500);
        telemetry.handlerTime("b", 7000);

        var lateness = registry.get("minutehand.lateness").tag("topic", "a").timer();
        assertThat(lateness.count()).isEqualTo(2);
        assertThat(lateness.totalTime(TimeUnit.MICROSECONDS)).isEqualTo(2000);
        assertThat(registry.get("minutehand.handler").tag("topic", "b").timer().max(TimeUnit.MICROSECONDS))
                .isEqualTo(7000);
    }

    @Test
    void shouldGiveEachCounterANameOfItsOwn() {
        for (Counter counter : Counter.values()) {
            telemetry.count(counter, "a", 1);
        }

        assertThat(registry.getMeters().stream().map(Meter::getId).map(Meter.Id::getName))
                .hasSize(Counter.values().length)
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("minutehand\\.[a-z.]+"));
    }
}

package io.minutehand.worker;

import io.minutehand.core.service.OneLine;
import io.minutehand.core.telemetry.Telemetry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends measurements to the node's own recorders and to the user's telemetry. What the user's throws is logged: the node's thread must not lose its
 * way because a measurement failed. Thread-safe.
 */
final class BothTelemetries implements Telemetry {
    private static final Logger log = LoggerFactory.getLogger(BothTelemetries.class);

    private final Telemetry own;
    private final Telemetry users;
    private final LogLimiter lines = new LogLimiter(1);

    BothTelemetries(Telemetry own, Telemetry users) {
        this.own = own;
        this.users = users;
    }

    @Override
    public void count(Counter counter, String topic, long events) {
        own.count(counter, topic, events);
        tell(() -> users.count(counter, topic, events));
    }

    @Override
    public void gauge(Gauge gauge, String topic, long value) {
        own.gauge(gauge, topic, value);
        tell(() -> users.gauge(gauge, topic, value));
    }

    @Override
    public void lateness(String topic, long latenessUs) {
        own.lateness(topic, latenessUs);
        tell(() -> users.lateness(topic, latenessUs));
    }

    @Override
    public void handlerTime(String topic, long elapsedUs) {
        own.handlerTime(topic, elapsedUs);
        tell(() -> users.handlerTime(topic, elapsedUs));
    }

    private void tell(Runnable measurement) {
        try {
            measurement.run();
        } catch (RuntimeException | LinkageError failure) {
            lines.log(left -> log.error("telemetry: a measurement failed cause=\"{}\"{}", OneLine.of(failure), left));
        }
    }
}

package io.minutehand.core.telemetry;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Passes measurements on to Micrometer: timers {@code minutehand.lateness} and {@code minutehand.handler} (with percentile histograms), and a
 * counter per event and a gauge per measure, each tagged with the topic. Needs micrometer-core, which is optional, on the class path. Thread-safe.
 */
public final class MicrometerTelemetry implements Telemetry {
    private record CounterKey(Counter counter, String topic) {}

    private record GaugeKey(Gauge gauge, String topic) {}

    private static final Duration SHORTEST = Duration.ofNanos(100_000);
    private static final Duration LONGEST = Duration.ofMinutes(5);

    private final MeterRegistry registry;
    private final Map<String, Timer> lateness = new ConcurrentHashMap<>();
    private final Map<String, Timer> handlers = new ConcurrentHashMap<>();
    private final Map<CounterKey, io.micrometer.core.instrument.Counter> counters = new ConcurrentHashMap<>();
    private final Map<GaugeKey, AtomicLong> gauges = new ConcurrentHashMap<>();

    public MicrometerTelemetry(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void count(Counter counter, String topic, long events) {
        counters.computeIfAbsent(new CounterKey(counter, topic), this::register).increment(events);
    }

    @Override
    public void gauge(Gauge gauge, String topic, long value) {
        gauges.computeIfAbsent(new GaugeKey(gauge, topic), this::register).set(value);
    }

    @Override
    public void lateness(String topic, long latenessUs) {
        lateness.computeIfAbsent(topic, t -> timer("minutehand.lateness", t)).record(latenessUs, TimeUnit.MICROSECONDS);
    }

    @Override
    public void handlerTime(String topic, long elapsedUs) {
        handlers.computeIfAbsent(topic, t -> timer("minutehand.handler", t)).record(elapsedUs, TimeUnit.MICROSECONDS);
    }

    private io.micrometer.core.instrument.Counter register(CounterKey key) {
        return registry.counter(nameOf(key.counter()), "topic", key.topic());
    }

    private AtomicLong register(GaugeKey key) {
        AtomicLong value = new AtomicLong();
        registry.gauge(nameOf(key.gauge()), Tags.of("topic", key.topic()), value);
        return value;
    }

    private static String nameOf(Enum<?> constant) {
        return "minutehand." + constant.name().toLowerCase(Locale.ROOT).replace('_', '.');
    }

    private Timer timer(String name, String topic) {
        return Timer.builder(name)
                .tag("topic", topic)
                .publishPercentileHistogram()
                .minimumExpectedValue(SHORTEST)
                .maximumExpectedValue(LONGEST)
                .register(registry);
    }
}

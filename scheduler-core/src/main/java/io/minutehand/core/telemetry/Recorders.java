package io.minutehand.core.telemetry;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Keeps measurements in the process: an HdrHistogram per topic for lateness and handler time (microseconds, 1 us to 1 h, 3 digits), and counters.
 * Thread-safe.
 */
public final class Recorders implements Telemetry {
    private static final long HIGHEST_US = 3_600_000_000L;
    private static final int DIGITS = 3;

    private final Map<String, Series> lateness = new ConcurrentHashMap<>();
    private final Map<String, Series> handlerTime = new ConcurrentHashMap<>();
    private final Map<String, LongAdder[]> counters = new ConcurrentHashMap<>();
    private final Map<String, AtomicLongArray> gauges = new ConcurrentHashMap<>();

    @Override
    public void count(Counter counter, String topic, long events) {
        counters.computeIfAbsent(topic, t -> newCounters())[counter.ordinal()].add(events);
    }

    @Override
    public void gauge(Gauge gauge, String topic, long value) {
        gauges.computeIfAbsent(topic, t -> new AtomicLongArray(Gauge.values().length))
                .set(gauge.ordinal(), value);
    }

    @Override
    public void lateness(String topic, long latenessUs) {
        lateness.computeIfAbsent(topic, t -> new Series()).record(latenessUs);
    }

    @Override
    public void handlerTime(String topic, long elapsedUs) {
        handlerTime.computeIfAbsent(topic, t -> new Series()).record(elapsedUs);
    }

    /** Events of a topic so far; an empty topic stands for those that belong to none. */
    public long counted(Counter counter, String topic) {
        LongAdder[] ofTopic = counters.get(topic);
        return ofTopic == null ? 0 : ofTopic[counter.ordinal()].sum();
    }

    /** Events of all topics so far. */
    public long counted(Counter counter) {
        return counters.values().stream()
                .mapToLong(c -> c[counter.ordinal()].sum())
                .sum();
    }

    /** How a measure of a topic stands, 0 before anything was said of it. */
    public long gauged(Gauge gauge, String topic) {
        AtomicLongArray ofTopic = gauges.get(topic);
        return ofTopic == null ? 0 : ofTopic.get(gauge.ordinal());
    }

    /** Lateness so far by topic, microseconds: copies. */
    public Map<String, Histogram> latenessSoFar() {
        return copies(lateness);
    }

    /** Handler time so far by topic, microseconds: copies. */
    public Map<String, Histogram> handlerTimeSoFar() {
        return copies(handlerTime);
    }

    private static Map<String, Histogram> copies(Map<String, Series> series) {
        Map<String, Histogram> copies = new TreeMap<>();
        series.forEach((topic, values) -> copies.put(topic, values.soFar()));
        return copies;
    }

    private static LongAdder[] newCounters() {
        LongAdder[] fresh = new LongAdder[Counter.values().length];
        java.util.Arrays.setAll(fresh, i -> new LongAdder());
        return fresh;
    }

    /** A recorder that is written without locks, and the sum of its past intervals, guarded by this. */
    private static final class Series {
        private final Recorder recorder = new Recorder(HIGHEST_US, DIGITS);
        private final Histogram sum = new Histogram(HIGHEST_US, DIGITS);

        void record(long us) {
            recorder.recordValue(Math.max(0, Math.min(us, HIGHEST_US)));
        }

        synchronized Histogram soFar() {
            sum.add(recorder.getIntervalHistogram());
            return sum.copy();
        }
    }
}

package io.minutehand.loadtest.check;

import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Lateness of a run from several sides: by topic, by node, by minute, around minute boundaries, within a span of time.
 *
 * <p>It looks at the first start of each attempt, retries included, against the due time of that attempt; of a first
 * attempt that is the time that the producer asked for, also if it asked too late (open loop: no coordinated omission). A
 * repeated start is a duplicate, not a late start, and is counted there.
 */
public final class Punctuality {
    private static final long MINUTE_US = 60_000_000L;

    /** Half of the two seconds around a minute boundary. */
    private static final long BOUNDARY_US = 1_000_000L;

    private final List<Start> starts;

    /** Looks at the first starts of a verdict. */
    public Punctuality(Verdict verdict) {
        this.starts = verdict.firstStarts();
    }

    /** Returns the lateness of all starts. */
    public Lateness all() {
        return of(start -> true);
    }

    /** Returns the lateness of the starts that a condition selects. */
    public Lateness of(Predicate<Start> which) {
        Lateness.Recorder recorder = new Lateness.Recorder();
        for (Start start : starts) {
            if (which.test(start)) {
                recorder.record(start.startUs() - start.dueUs());
            }
        }
        return Lateness.of(recorder);
    }

    /** Returns the lateness of the starts that were due in a span of time; its end does not belong to it. */
    public Lateness dueWithin(long fromUs, long toUs) {
        return of(start -> start.dueUs() >= fromUs && start.dueUs() < toUs);
    }

    /** Returns the lateness of the starts due within a second of a minute boundary, before or after it. */
    public Lateness atBoundaries() {
        return of(Punctuality::isAtBoundary);
    }

    /** Returns the lateness of all other starts. */
    public Lateness elsewhere() {
        return of(start -> !isAtBoundary(start));
    }

    /** Returns how many starts each node made in each minute, by the minute of the due time and the node's name. */
    public Map<Long, Map<String, Long>> byMinuteAndNode() {
        Map<Long, Map<String, Long>> minutes = new TreeMap<>();
        for (Start start : starts) {
            minutes.computeIfAbsent(start.dueUs() / MINUTE_US, unused -> new TreeMap<>())
                    .merge(start.node(), 1L, Long::sum);
        }
        return minutes;
    }

    /** Returns starts a second between the first and the last start; 0 if there are fewer than two. */
    public double startsPerSecond() {
        if (starts.size() < 2) {
            return 0;
        }
        long spanUs = last(Start::startUs) - starts.get(0).startUs();
        return spanUs <= 0 ? 0 : starts.size() * 1e6 / spanUs;
    }

    /** Returns the latest due time, or 0 if nothing started. */
    public long lastDueUs() {
        return last(Start::dueUs);
    }

    private long last(ToLongFunction<Start> time) {
        return starts.stream().mapToLong(time).max().orElse(0);
    }

    private static boolean isAtBoundary(Start start) {
        long intoMinuteUs = Math.floorMod(start.dueUs(), MINUTE_US);
        return intoMinuteUs < BOUNDARY_US || intoMinuteUs >= MINUTE_US - BOUNDARY_US;
    }
}

package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.RedisProbe.Waiting;
import io.minutehand.loadtest.lab.SystemReport.BucketRow;
import io.minutehand.loadtest.lab.SystemReport.Buckets;
import io.minutehand.loadtest.lab.SystemReport.WaitingRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How many jobs wait in which bucket: once at the start, and summed up over time. For one thread. */
final class BucketSizes {
    /** Minutes that a report tells one by one. */
    private static final int MOST_MINUTES = 1_000;

    private final RedisProbe probe;
    private final List<WaitingRow> overTime = new ArrayList<>();
    private @Nullable List<Waiting> start;

    BucketSizes(RedisProbe probe) {
        this.probe = probe;
    }

    /**
     * Looks.
     *
     * @param seconds since the first job was due, negative before
     */
    void look(double seconds) {
        List<Waiting> waiting = probe.waiting();
        if (start == null && seconds >= 0) {
            start = waiting;
        }
        overTime.add(new WaitingRow(
                Math.round(seconds * 10) / 10.0,
                waiting.size(),
                waiting.stream().mapToLong(Waiting::jobs).sum(),
                waiting.stream().mapToLong(Waiting::largest).max().orElse(0)));
    }

    /** Takes what waits now for what waits at the start. */
    void lookAtStart() {
        start = probe.waiting();
    }

    Buckets found() {
        List<Waiting> first = start == null ? List.of() : start;
        return new Buckets(
                first.stream()
                        .limit(MOST_MINUTES)
                        .map(each -> new BucketRow(each.minute() - first.get(0).minute(), each.jobs(), each.largest()))
                        .toList(),
                List.copyOf(overTime));
    }
}

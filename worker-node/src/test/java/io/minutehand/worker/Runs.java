package io.minutehand.worker;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

/** What handlers saw, in the order in which they started. Thread-safe. */
final class Runs {
    /** A start of a handler; times by the clock of Redis. */
    record Run(String node, String id, int attempt, int delivery, long dueMs, long startedMs, long latenessUs) {}

    private final Queue<Run> runs = new ConcurrentLinkedQueue<>();

    void add(String node, JobContext job) {
        runs.add(new Run(
                node,
                job.id(),
                job.attempt(),
                job.delivery(),
                job.dueAt().toEpochMilli(),
                job.startedAt().toEpochMilli(),
                job.lateness().toNanos() / 1000));
    }

    /** A handler that notes its start and returns. */
    JobHandler<byte[]> handler(String node) {
        return (payload, job) -> add(node, job);
    }

    List<Run> all() {
        return List.copyOf(runs);
    }

    List<Run> of(String id) {
        return runs.stream().filter(run -> run.id().equals(id)).toList();
    }

    List<Integer> attempts(String id) {
        return of(id).stream().map(Run::attempt).toList();
    }

    Set<String> ids() {
        return runs.stream().map(Run::id).collect(Collectors.toSet());
    }

    int size() {
        return runs.size();
    }

    /** Starts beyond the first of each attempt of each job. */
    long duplicates() {
        return runs.size()
                - runs.stream()
                        .map(run -> run.id() + " " + run.attempt())
                        .distinct()
                        .count();
    }

    long early() {
        return runs.stream().filter(run -> run.latenessUs() < 0).count();
    }

    long worstLatenessMs() {
        return runs.stream().mapToLong(Run::latenessUs).max().orElse(0) / 1000;
    }

    /** Percentiles of lateness, for people. */
    String lateness() {
        long[] us = runs.stream().mapToLong(Run::latenessUs).sorted().toArray();
        if (us.length == 0) {
            return "lateness of nothing";
        }
        long[] picked = Arrays.stream(new double[] {0.5, 0.99, 0.999})
                .mapToLong(share -> us[(int) Math.min(us.length - 1, (long) (us.length * share))])
                .toArray();
        return "lateness us p50=%d p99=%d p99.9=%d max=%d n=%d"
                .formatted(picked[0], picked[1], picked[2], us[us.length - 1], us.length);
    }
}

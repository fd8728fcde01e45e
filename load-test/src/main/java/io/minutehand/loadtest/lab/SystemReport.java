package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one scheduler in one run. Those that the demo reports as well have its names; times are milliseconds
 * unless the name says otherwise, and a figure that could not be taken is null.
 *
 * @param system which scheduler
 * @param percentiles the curve of lateness
 * @param refused jobs that it did not take, or for which there was no answer
 * @param unexpected events of jobs that were not sent
 * @param storedFirst whether all jobs were stored before the first was due
 * @param latestSendMs how late the sending was at most, against the plan: the plan's due times count all the same
 * @param clockErrorUs how far a process's estimate of the Redis clock may have been off
 * @param slowestCallMs the slowest call in Redis's log of slow calls, from 1 ms
 * @param redisMemoryMb memory that Redis used at most, by its own count
 * @param processes what each process cost, from the end of the warm-up
 * @param timeline by second from the first due time
 * @param measuredWith every setting of the run, to tell whether another run is its like
 * @param failures what makes the run fail, one sentence each
 */
@JsonPropertyOrder({"system", "scenario"})
record SystemReport(
        String system,
        String scenario,
        int nodes,
        int topics,
        int shards,
        long jobs,
        double rate,
        String redisVersion,
        String redisSource,
        long scheduled,
        double scheduledPerSec,
        long started,
        long done,
        long dead,
        long lost,
        long duplicates,
        long early,
        LatenessMs latenessMs,
        List<PercentileRow> percentiles,
        Boundary boundary,
        @Nullable Object fault,
        double dispatchedPerSec,
        double redisCpuUsPerJob,
        @Nullable Double bytesPerPendingJob,
        long warmupJobs,
        double seconds,
        long refused,
        long unexpected,
        boolean storedFirst,
        @Nullable Double latestSendMs,
        long clockErrorUs,
        @Nullable Double slowestCallMs,
        double redisMemoryMb,
        List<ProcessRow> processes,
        List<SecondRow> timeline,
        String measuredWith,
        List<String> failures) {

    /** Percentiles of lateness. */
    record LatenessMs(double p50, double p90, double p99, double p999, double p9999, double max) {
        static LatenessMs of(Histogram us) {
            return new LatenessMs(
                    ms(us, 50), ms(us, 90), ms(us, 99), ms(us, 99.9), ms(us, 99.99), us.getMaxValue() / 1e3);
        }
    }

    /** A point of the curve of lateness. */
    record PercentileRow(double percentile, double ms) {
        private static final double[] POINTS = {
            0, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.999, 100
        };

        static List<PercentileRow> curve(Histogram us) {
            return Arrays.stream(POINTS)
                    .mapToObj(point -> new PercentileRow(point, SystemReport.ms(us, point)))
                    .toList();
        }
    }

    /** Lateness within a second of a minute's boundary and elsewhere; null where nothing was due. */
    record Boundary(@Nullable Double p99, @Nullable Double elsewhereP99, long starts) {}

    /** What a process cost while jobs were measured. */
    record ProcessRow(
            String process, double cpuSeconds, long gcMs, long collections, double heapAfterGcMb, long threads) {}

    /** One second: the lateness of the jobs due in it, null if there were none, and what happened in it. */
    record SecondRow(
            int second,
            @Nullable Double p50,
            @Nullable Double p99,
            @Nullable Double max,
            long scheduled,
            long started) {}

    static double ms(Histogram us, double percentile) {
        return us.getValueAtPercentile(percentile) / 1e3;
    }

    boolean passed() {
        return failures.isEmpty();
    }
}

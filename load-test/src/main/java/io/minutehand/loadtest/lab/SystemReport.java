package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.rounded;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.minutehand.loadtest.lab.LabVerdict.Second;
import io.minutehand.loadtest.report.RunFigures;
import io.minutehand.loadtest.report.RunReport.Boundary;
import io.minutehand.loadtest.report.RunReport.LatenessMs;
import io.minutehand.redis.RedisInstance;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one scheduler in one run. Times are milliseconds unless the name says otherwise, and a figure that could
 * not be taken is null.
 *
 * @param system which scheduler
 * @param figures those of every report; in JSON they stand beside the others
 * @param percentiles the curve of lateness
 * @param refused jobs that it did not take, or for which there was no answer
 * @param unexpected events of jobs that were not sent
 * @param storedFirst whether all jobs were stored before the first was due
 * @param latestSendMs how late the sending was at most, against the plan: the plan's due times count all the same
 * @param clockErrorUs how far a process's estimate of the Redis clock may have been off
 * @param slowestCallMs the slowest call in Redis's log of slow calls, from 1 ms
 * @param redisMemoryMb memory that Redis used at most, by its own count
 * @param redisIdleCpuUsPerSec CPU time that Redis used in a second before, without jobs
 * @param redisCpuUsPerJobNet {@code redisCpuUsPerJob} without what Redis would have used without jobs
 * @param processes what each process cost, from the end of the warm-up
 * @param timeline by second from the first due time
 * @param buckets where jobs waited; null for a scheduler without buckets
 * @param measuredWith every setting of the run, to tell whether another run is its like
 * @param failures what makes the run fail, one sentence each
 */
@JsonPropertyOrder("system")
record SystemReport(
        String system,
        @JsonUnwrapped RunFigures figures,
        List<PercentileRow> percentiles,
        long refused,
        long unexpected,
        boolean storedFirst,
        @Nullable Double latestSendMs,
        long clockErrorUs,
        @Nullable Double slowestCallMs,
        double redisMemoryMb,
        double redisIdleCpuUsPerSec,
        double redisCpuUsPerJobNet,
        List<ProcessRow> processes,
        List<SecondRow> timeline,
        @Nullable Buckets buckets,
        String measuredWith,
        List<String> failures)
        implements Saved {

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

    /**
     * Where jobs waited.
     *
     * @param start when the first was due, or all were stored: by minute, at most 1,000 of them
     * @param overTime a row a second or so
     */
    record Buckets(List<BucketRow> start, List<WaitingRow> overTime) {}

    /**
     * A minute's buckets.
     *
     * @param minute after the first
     * @param jobs that wait, in all shards
     * @param largest what the fullest key holds
     */
    record BucketRow(long minute, long jobs, long largest) {}

    /** What waits at a time, in seconds from the first due time: in how many minutes, how many jobs, the fullest key. */
    record WaitingRow(double second, long minutes, long jobs, long largest) {}

    /** What a run cost. */
    record Costs(
            double redisCpuUs,
            double redisIdleCpuUsPerSec,
            double seconds,
            @Nullable Double bytesAJob,
            @Nullable Double slowestMs,
            double mostDataBytes,
            long clockErrorUs,
            long dead,
            List<ProcessRow> processes,
            @Nullable Buckets buckets) {}

    static SystemReport of(
            String scenario,
            LabSettings settings,
            RedisInstance redis,
            LabVerdict verdict,
            Costs costs,
            List<String> failures) {
        Double bytes = costs.bytesAJob();
        return new SystemReport(
                settings.scheduler().label(),
                new RunFigures(
                        scenario,
                        settings.workers(),
                        1,
                        settings.shards(),
                        settings.jobs(),
                        settings.rate(),
                        redis.version(),
                        redis.kind().label(),
                        verdict.stored(),
                        rounded(verdict.storedPerSecond()),
                        verdict.started() + verdict.duplicates(),
                        verdict.started(),
                        costs.dead(),
                        verdict.lost(),
                        verdict.duplicates(),
                        verdict.early(),
                        LatenessMs.ofUs(verdict.latenessUs()),
                        new Boundary(
                                p99(verdict.atBoundariesUs()),
                                p99(verdict.elsewhereUs()),
                                verdict.atBoundariesUs().getTotalCount()),
                        null,
                        rounded(verdict.startedPerSecond()),
                        rounded(costs.redisCpuUs() / settings.jobs()),
                        bytes == null ? null : (Double) rounded(bytes),
                        settings.warmupJobs(),
                        rounded(verdict.seconds(settings.storesFirst()))),
                PercentileRow.curve(verdict.latenessUs()),
                verdict.refused(),
                verdict.unexpected(),
                settings.storesFirst(),
                settings.storesFirst() ? null : (Double) rounded(verdict.latestSentMs()),
                costs.clockErrorUs(),
                costs.slowestMs(),
                rounded(costs.mostDataBytes() / (1 << 20)),
                rounded(costs.redisIdleCpuUsPerSec()),
                rounded((costs.redisCpuUs() - costs.redisIdleCpuUsPerSec() * costs.seconds()) / settings.jobs()),
                costs.processes(),
                timeline(verdict.seconds()),
                costs.buckets(),
                settings.toString(),
                List.copyOf(failures));
    }

    private static @Nullable Double p99(Histogram us) {
        return us.getTotalCount() == 0 ? null : (Double) ms(us, 99);
    }

    private static List<SecondRow> timeline(List<Second> seconds) {
        List<SecondRow> rows = new ArrayList<>();
        for (int i = 0; i < seconds.size(); i++) {
            Histogram us = seconds.get(i).latenessUs;
            boolean none = us.getTotalCount() == 0;
            rows.add(new SecondRow(
                    i,
                    none ? null : (Double) ms(us, 50),
                    none ? null : (Double) ms(us, 99),
                    none ? null : (Double) (us.getMaxValue() / 1e3),
                    seconds.get(i).stored,
                    seconds.get(i).started));
        }
        return rows;
    }

    static double ms(Histogram us, double percentile) {
        return us.getValueAtPercentile(percentile) / 1e3;
    }

    LatenessMs latenessMs() {
        return figures.latenessMs();
    }

    /** CPU time of Redis by job, microseconds. */
    double redisCpuUsPerJob() {
        Double us = figures.redisCpuUsPerJob();
        return us == null ? Double.NaN : us;
    }

    boolean passed() {
        return failures.isEmpty();
    }
}

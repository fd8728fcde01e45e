package io.minutehand.loadtest.report;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a run knows of itself beyond its ledger.
 *
 * @param setup what was asked for
 * @param scheduledSeconds from the first schedule call to the last answer
 * @param seconds from the first schedule call to the last end
 * @param firstDueUs when the first job was due, by the Redis clock
 * @param undrained jobs that Redis still held as pending or in flight at the end
 * @param redisCpuUs CPU time that the Redis server used for the run, or null
 * @param bytesPerPendingJob see {@link RunReport}
 * @param keys see {@link RunReport}
 * @param kill what was done to a node, or null
 * @param join which node came, or null
 * @param problems what went wrong that no ledger shows; one sentence each
 */
public record RunFacts(
        Setup setup,
        double scheduledSeconds,
        double seconds,
        long firstDueUs,
        long undrained,
        @Nullable Double redisCpuUs,
        @Nullable Double bytesPerPendingJob,
        RunReport.@Nullable Keys keys,
        @Nullable Kill kill,
        @Nullable Join join,
        List<String> problems) {

    /** Copies the problems. */
    public RunFacts {
        problems = List.copyOf(problems);
    }

    /** Returns the same facts with these problems. */
    public RunFacts with(List<String> found) {
        return new RunFacts(
                setup,
                scheduledSeconds,
                seconds,
                firstDueUs,
                undrained,
                redisCpuUs,
                bytesPerPendingJob,
                keys,
                kill,
                join,
                found);
    }

    /** What was asked for, and the Redis that it ran on. */
    public record Setup(
            String scenario,
            int nodes,
            int topics,
            int shards,
            long jobs,
            double rate,
            long warmupJobs,
            String redisVersion,
            String redisSource) {}

    /** A bucket, as a report needs it. */
    public record Bucket(String topic, int shard, long minute) {}

    /**
     * A SIGKILL.
     *
     * @param atUs when, by the Redis clock
     * @param inFlight jobs that Redis held as handed to the node
     * @param held buckets that the node had leased
     */
    public record Kill(String node, long atUs, int inFlight, Set<Bucket> held) {}

    /**
     * A node that joined.
     *
     * @param readyUs when it was ready, by the Redis clock
     * @param shards shards that the assignment gives it, as topic to shard numbers
     */
    public record Join(String node, long readyUs, Map<String, Set<Integer>> shards) {}
}

package io.minutehand.loadtest.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.minutehand.loadtest.report.RunReport.Boundary;
import io.minutehand.loadtest.report.RunReport.Fault;
import io.minutehand.loadtest.report.RunReport.LatenessMs;
import org.jspecify.annotations.Nullable;

/**
 * The figures that every report of a run has, whatever made it. Times are milliseconds unless the name says otherwise; a
 * figure that could not be taken is null.
 *
 * @param scenario which scenario ran, such as {@code demo}
 * @param nodes worker processes at the start
 * @param topics topics with measured jobs
 * @param shards shards of each topic
 * @param jobs jobs offered, without the warm-up
 * @param rate jobs due in a second
 * @param redisSource {@code address}, {@code path} or {@code embedded}
 * @param scheduled jobs whose schedule call was acknowledged
 * @param scheduledPerSec acknowledged calls a second, from the first call to the last answer
 * @param started handler starts, retries and repetitions included
 * @param done jobs whose handler returned
 * @param dead jobs that became dead letters
 * @param lost acknowledged jobs that are neither done nor dead
 * @param duplicates starts minus distinct pairs of id and attempt
 * @param early starts before the due time, retries before their policy's delay included
 * @param boundary lateness around minute boundaries and elsewhere
 * @param fault what was done to a node, or null
 * @param dispatchedPerSec first starts a second, from the first to the last
 * @param redisCpuUsPerJob CPU time of the Redis servers, user and system, by job
 * @param bytesPerPendingJob memory by job, while jobs were pending
 * @param warmupJobs jobs that ran before and are in no other figure
 * @param seconds from the first measured call to the last end
 */
@JsonPropertyOrder({
    "scenario",
    "nodes",
    "topics",
    "shards",
    "jobs",
    "rate",
    "redisVersion",
    "redisSource",
    "scheduled",
    "scheduledPerSec",
    "started",
    "done",
    "dead",
    "lost",
    "duplicates",
    "early",
    "latenessMs",
    "boundary",
    "fault",
    "dispatchedPerSec",
    "redisCpuUsPerJob",
    "bytesPerPendingJob",
    "warmupJobs",
    "seconds"
})
public record RunFigures(
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
        Boundary boundary,
        @Nullable Fault fault,
        double dispatchedPerSec,
        @Nullable Double redisCpuUsPerJob,
        @Nullable Double bytesPerPendingJob,
        long warmupJobs,
        double seconds) {}

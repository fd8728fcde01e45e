package io.minutehand.loadtest.demo;

import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a demo was asked to do.
 *
 * @param nodes worker processes at the start
 * @param jobs measured jobs
 * @param rate jobs due in a second
 * @param shards shards of each topic
 * @param aheadSeconds the longest time that a job is scheduled ahead
 * @param redis address of a Redis, or null to find or start one
 * @param killNodeAt seconds after the first job is due at which a worker is killed, or null
 * @param addNodeAt seconds after the first job is due at which a worker is added, or null
 * @param json file for the report, or null
 * @param workDir directory for ledger and logs, kept; null for one that goes away with the demo
 * @param keepKeys whether the keys stay in a Redis that was there before
 * @param live one screen that refreshes, or lines
 * @param colour whether escape sequences for colours may be printed
 */
record DemoOptions(
        int nodes,
        int jobs,
        double rate,
        int shards,
        Set<DemoTopic> topics,
        double aheadSeconds,
        @Nullable String redis,
        @Nullable Double killNodeAt,
        @Nullable Double addNodeAt,
        @Nullable Path json,
        @Nullable Path workDir,
        boolean keepKeys,
        boolean live,
        boolean colour) {

    /** Jobs that run before the measured ones, on a topic of their own. */
    static final int WARMUP_JOBS = 500;

    /** Returns how long the measured jobs are due, from the first to the last. */
    double dueSeconds() {
        return jobs / rate;
    }
}

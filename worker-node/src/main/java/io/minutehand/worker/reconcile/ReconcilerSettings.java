package io.minutehand.worker.reconcile;

import io.minutehand.core.job.Allowed;
import io.minutehand.core.job.Limits;
import java.time.Duration;

/**
 * How often and how fast a reconciliation goes through the rows. Nodes that run the same reconciliation should agree on them. Immutable.
 *
 * @param period from the beginning of one pass to that of the next, 100 ms to 1 day; a pass that takes longer is followed at once
 * @param lookAhead how long before they are due jobs are put back, 0 to 10 years: it is added to the time that the query is given. More than the
 *     period and the length of a pass, or jobs are put back late
 * @param pageSize rows of a page at most, 1 to 10,000; a page is also cut at 4 MiB of jobs
 * @param rowsPerSecond rows that are looked at in a second, on average, 1 to 1,000,000
 * @param fetchSize rows that the driver fetches at a time, 1 to 10,000
 * @param queryTimeout how long the database may take to answer for a page, 1 s to 20 s, in whole seconds
 * @param lease how long a node that died keeps others from going on, 1 s to 10 min; renewed three times in it
 * @param dryRun whether rows without a job are only counted; a dry run never gets in the way of one that is none
 */
public record ReconcilerSettings(
        Duration period,
        Duration lookAhead,
        int pageSize,
        int rowsPerSecond,
        int fetchSize,
        Duration queryTimeout,
        Duration lease,
        boolean dryRun) {
    private static final int MOST_ROWS = 10_000;
    private static final int FASTEST = 1_000_000;

    private static final ReconcilerSettings DEFAULTS = new ReconcilerSettings(
            Duration.ofMinutes(1),
            Duration.ofMinutes(5),
            500,
            2000,
            100,
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            false);

    /**
     * Checks the ranges above.
     *
     * @throws IllegalArgumentException that names the value out of range
     */
    public ReconcilerSettings {
        Allowed.requireWithin("period", period, Duration.ofMillis(100), Duration.ofDays(1));
        Allowed.requireWithin("lookAhead", lookAhead, Duration.ZERO, Limits.HORIZON);
        Allowed.requireWithin("pageSize", pageSize, 1, MOST_ROWS);
        Allowed.requireWithin("rowsPerSecond", rowsPerSecond, 1, FASTEST);
        Allowed.requireWithin("fetchSize", fetchSize, 1, MOST_ROWS);
        // The jobs of a page are written within half a minute of its query, while tombstones of jobs that end meanwhile
        // last.
        Allowed.requireWithin("queryTimeout", queryTimeout, Duration.ofSeconds(1), Duration.ofSeconds(20));
        Allowed.requireWithin("lease", lease, Duration.ofSeconds(1), Duration.ofMinutes(10));
    }

    /** Each minute, 5 min ahead, pages of 500, 2,000 rows a second, 100 fetched at a time, query time-out and lease 10 s. */
    public static ReconcilerSettings defaults() {
        return DEFAULTS;
    }

    public ReconcilerSettings withPeriod(Duration value) {
        return new ReconcilerSettings(
                value, lookAhead, pageSize, rowsPerSecond, fetchSize, queryTimeout, lease, dryRun);
    }

    public ReconcilerSettings withLookAhead(Duration value) {
        return new ReconcilerSettings(period, value, pageSize, rowsPerSecond, fetchSize, queryTimeout, lease, dryRun);
    }

    public ReconcilerSettings withPageSize(int value) {
        return new ReconcilerSettings(period, lookAhead, value, rowsPerSecond, fetchSize, queryTimeout, lease, dryRun);
    }

    public ReconcilerSettings withRowsPerSecond(int value) {
        return new ReconcilerSettings(period, lookAhead, pageSize, value, fetchSize, queryTimeout, lease, dryRun);
    }

    public ReconcilerSettings withFetchSize(int value) {
        return new ReconcilerSettings(period, lookAhead, pageSize, rowsPerSecond, value, queryTimeout, lease, dryRun);
    }

    public ReconcilerSettings withQueryTimeout(Duration value) {
        return new ReconcilerSettings(period, lookAhead, pageSize, rowsPerSecond, fetchSize, value, lease, dryRun);
    }

    public ReconcilerSettings withLease(Duration value) {
        return new ReconcilerSettings(
                period, lookAhead, pageSize, rowsPerSecond, fetchSize, queryTimeout, value, dryRun);
    }

    public ReconcilerSettings withDryRun(boolean value) {
        return new ReconcilerSettings(
                period, lookAhead, pageSize, rowsPerSecond, fetchSize, queryTimeout, lease, value);
    }

    /** Rows of a page: no more than a second's, so that the rate is kept evenly. */
    int rowsOfAPage() {
        return Math.min(pageSize, rowsPerSecond);
    }
}

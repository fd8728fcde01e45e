package io.minutehand.core.admin;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.LedgerState;
import java.util.List;
import java.util.Map;

/**
 * What an audit of a shard found.
 *
 * @param shard the shard
 * @param ledger the ledger's check of itself, after all else; not declared means that its counters start anew: the shard was never used, or
 *     Redis came back empty
 * @param deep whether all jobs were looked at, not the counters alone
 * @param complete whether the deep audit came to its end in time
 * @param records job records looked at
 * @param unreadable records of a newer version, or cut: left alone
 * @param unjudged things that could not be judged: more jobs in flight than one look can take in, or the counter of pending jobs while the
 *     buckets changed all the time
 * @param counts findings by kind, all of them
 * @param findings the first of them, {@link #FINDINGS} at most
 */
public record ShardAudit(
        ShardId shard,
        LedgerState ledger,
        boolean deep,
        boolean complete,
        long records,
        long unreadable,
        long unjudged,
        Map<Finding.Kind, Count> counts,
        List<Finding> findings) {
    /** Findings that are kept one by one. */
    public static final int FINDINGS = 1000;

    /**
     * Findings of a kind.
     *
     * @param found all
     * @param repaired those that were mended
     */
    public record Count(long found, long repaired) {}

    /** Findings that are still there. */
    public long open() {
        return counts.values().stream()
                .mapToLong(count -> count.found() - count.repaired())
                .sum();
    }

    /** Findings that were mended. */
    public long repaired() {
        return counts.values().stream().mapToLong(Count::repaired).sum();
    }

    /** Whether nothing was found. */
    public boolean clean() {
        return counts.isEmpty();
    }
}

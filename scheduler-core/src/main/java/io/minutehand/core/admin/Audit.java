package io.minutehand.core.admin;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.AuditStore;
import io.minutehand.core.store.LedgerState;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;

/**
 * Audits of shards while everything goes on. Calls block; what they keep in memory is bounded whatever a shard holds. Thread-safe.
 */
public final class Audit {
    private final AuditStore store;

    /** Audits over a connection, which stays the caller's. */
    public Audit(StoreConnection connection) {
        this.store = connection.audits(ForkJoinPool.commonPool());
    }

    /**
     * Checks the counters of a shard against each other: one call of constant cost.
     *
     * @param patience how long a failing call is repeated
     * @throws StoreException when there was no answer in time
     */
    public ShardAudit quick(ShardId shard, Duration patience) {
        return waiting(() -> {
            LedgerState ledger =
                    store.ledger(shard, System.nanoTime() + patience.toNanos()).join();
            Findings findings = new Findings(shard);
            findings.addLedger(ledger);
            return new ShardAudit(shard, ledger, false, true, 0, 0, 0, findings.counts(), findings.first());
        });
    }

    /**
     * Looks at every job of a shard, piece by piece, each piece judged at one instant.
     *
     * @param repair whether what is safe to mend is mended
     * @param patience how long it may take in all: what it found until then is told, as not complete
     * @throws StoreException when a call was refused, or had no answer by then
     */
    public ShardAudit deep(ShardId shard, boolean repair, Duration patience) {
        return waiting(() -> new DeepAudit(store, shard, repair, System.nanoTime() + patience.toNanos()).run());
    }

    static <T> T waiting(Supplier<T> calls) {
        try {
            return calls.get();
        } catch (CompletionException failed) {
            throw StoreException.of(failed);
        }
    }
}

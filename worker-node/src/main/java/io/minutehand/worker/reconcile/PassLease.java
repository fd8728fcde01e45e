package io.minutehand.worker.reconcile;

import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.ReconcileStore;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The lease by which one node at a time runs a reconciliation. It counts from when a claim or renewal was sent, less a twelfth for the node's own
 * delays, so it ends here before it ends in Redis. It is renewed in the background, but only as long as the reconciliation shows signs of life: a node
 * whose database call hangs for ever is to lose it. Thread-safe.
 */
final class PassLease {
    /** How long a reconciliation may be silent: longer than a pool waits for a connection (30 s is usual) and a page takes. */
    static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(90);

    private final ReconcileStore store;
    private final String name;
    private final NodeId node;
    private final Duration lease;
    private final long trustNs;
    private final ScheduledExecutorService timer;
    private final Runnable onLost;
    private final long silenceNs;

    /** Guarded by this; null while the lease is not held. */
    private @Nullable ScheduledFuture<?> renewals;

    private volatile boolean taken;
    private volatile long validUntilNs;
    private volatile long lifeNs;

    /**
     * A lease that is not held yet.
     *
     * @param timer for renewals; not blocked by them
     * @param onLost told when the lease was lost before it was given back; may be called on any thread
     * @param silenceNs how long the reconciliation may show no sign of life
     */
    PassLease(
            ReconcileStore store,
            String name,
            NodeId node,
            Duration lease,
            ScheduledExecutorService timer,
            Runnable onLost,
            long silenceNs) {
        this.store = store;
        this.name = name;
        this.node = node;
        this.lease = lease;
        this.trustNs = lease.toNanos() - lease.toNanos() / 12;
        this.timer = timer;
        this.onLost = onLost;
        this.silenceNs = silenceNs;
    }

    /**
     * Tries to take it; blocks for the call.
     *
     * @throws java.util.concurrent.CompletionException around a StoreException when Redis does not answer
     */
    boolean claim() {
        long sentNs = System.nanoTime();
        if (!store.claim(name, node, lease).join()) {
            return false;
        }
        synchronized (this) {
            stopRenewals();
            validUntilNs = sentNs + trustNs;
            taken = true;
            alive();
            long everyNs = lease.toNanos() / 3;
            renewals = timer.scheduleWithFixedDelay(this::renew, everyNs, everyNs, TimeUnit.NANOSECONDS);
        }
        return held();
    }

    /** Whether it is held for sure. */
    boolean held() {
        return taken && System.nanoTime() - validUntilNs < 0;
    }

    /** Until when it is held for sure, nanoTime, unless it is renewed. */
    long validUntilNs() {
        return validUntilNs;
    }

    /** The reconciliation goes on: called again and again. */
    void alive() {
        lifeNs = System.nanoTime();
    }

    private void renew() {
        long sentNs = System.nanoTime();
        if (sentNs - lifeNs > silenceNs) {
            return;
        }
        store.renew(name, node, lease).whenComplete((held, failure) -> {
            if (failure == null) {
                answered(sentNs, held);
            }
        });
    }

    private synchronized void answered(long sentNs, boolean held) {
        if (!taken) {
            return;
        }
        if (held) {
            long untilNs = sentNs + trustNs;
            if (untilNs - validUntilNs > 0) {
                validUntilNs = untilNs;
            }
        } else {
            drop();
            onLost.run();
        }
    }

    /** It is not held any more, as somebody else has found out. */
    synchronized void drop() {
        taken = false;
        stopRenewals();
    }

    private void stopRenewals() {
        ScheduledFuture<?> running = renewals;
        if (running != null) {
            running.cancel(false);
            renewals = null;
        }
    }

    /** Gives it back, so that others need not wait for its end; blocks for the call, and leaves it to its end when Redis does not answer. */
    void release() {
        boolean had = taken;
        drop();
        if (had) {
            store.release(name, node).exceptionally(unanswered -> false).join();
        }
    }
}

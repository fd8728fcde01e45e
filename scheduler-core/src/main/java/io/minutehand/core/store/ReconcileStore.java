package io.minutehand.core.store;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.store.ScriptRunner.Call;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;

/**
 * Leases of reconciliations (Redisson locks), and how far each has come: a text that only the holder of the lease can write, so that a node which
 * slept through its lease does not undo what its successor wrote. Futures fail with {@link StoreException}. Thread-safe.
 */
public final class ReconcileStore {
    /** Not at all, see {@link LeaseStore}. */
    private static final long NO_WAIT_MS = Long.MIN_VALUE / 2;

    private final RedissonClient client;
    private final ScriptRunner runner;
    private final Keyspace keys;

    ReconcileStore(StoreConnection connection, ScriptRunner runner, RedissonClient client) {
        this.client = client;
        this.runner = runner;
        this.keys = connection.keys();
    }

    /**
     * Takes the lease of a reconciliation, without waiting and without a watchdog; one that the caller holds already starts anew. When Redisson's
     * lock is refused for lack of memory the claim script writes the same.
     *
     * @return whether the caller holds it now
     */
    public CompletableFuture<Boolean> claim(String name, NodeId node, Duration lease) {
        CompletableFuture<Boolean> claimed = new CompletableFuture<>();
        client.getLock(keys.reconcileLease(name))
                .tryLockAsync(NO_WAIT_MS, lease.toMillis(), TimeUnit.MILLISECONDS, node.owner())
                .whenComplete((held, failure) -> {
                    if (failure == null) {
                        runner.complete(() -> claimed.complete(held));
                    } else {
                        claimByScript(name, node, lease).whenComplete((taken, second) -> {
                            if (second == null) {
                                claimed.complete(taken);
                            } else {
                                claimed.completeExceptionally(second);
                            }
                        });
                    }
                });
        return claimed;
    }

    CompletableFuture<Boolean> claimByScript(String name, NodeId node, Duration lease) {
        return runner.run(leaseCall(Script.CLAIM, name, node).arg(lease.toMillis()))
                .thenApply(reply -> reply.text(0).equals("OK"));
    }

    /** Prolongs the lease; says whether the caller still held it. */
    public CompletableFuture<Boolean> renew(String name, NodeId node, Duration lease) {
        return runner.run(leaseCall(Script.RENEW, name, node).arg(lease.toMillis()))
                .thenApply(reply -> reply.text(1).equals("OK"));
    }

    /** Gives the lease back; says whether the caller still held it. */
    public CompletableFuture<Boolean> release(String name, NodeId node) {
        return runner.run(leaseCall(Script.RELEASE, name, node))
                .thenApply(reply -> reply.text(1).equals("OK"));
    }

    private Call leaseCall(Script script, String name, NodeId node) {
        return new Call(script).key(keys.reconcileLease(name)).arg(node.holder());
    }

    /** Reads how far a reconciliation has come, repeating until the deadline ({@code nanoTime}). */
    public CompletableFuture<Progress> read(String name, NodeId node, long deadlineNs) {
        return progress(name, node, "", Duration.ofMillis(1), deadlineNs);
    }

    /**
     * Writes how far a reconciliation has come, repeating until the deadline ({@code nanoTime}).
     *
     * @param state not empty
     * @param ttl how long it stays unless it is written again, 1 ms or more
     */
    public CompletableFuture<Progress> write(String name, NodeId node, String state, Duration ttl, long deadlineNs) {
        if (state.isEmpty()) {
            throw new IllegalArgumentException("the state of reconciliation " + name + " is empty, which means a read");
        }
        return progress(name, node, state, ttl, deadlineNs);
    }

    private CompletableFuture<Progress> progress(
            String name, NodeId node, String state, Duration ttl, long deadlineNs) {
        Call call = new Call(Script.PROGRESS)
                .key(keys.reconcileLease(name))
                .key(keys.reconcileState(name))
                .arg(node.holder())
                .arg(state)
                .arg(ttl.toMillis());
        return runner.runUntil(call, deadlineNs).thenApply(reply -> {
            boolean held = reply.text(0).equals("OK");
            return new Progress(held, reply.number(1), held ? reply.text(2) : "");
        });
    }

    /**
     * How far a reconciliation has come.
     *
     * @param held whether the caller holds the lease; if not, nothing was read or written
     * @param nowUs the server's time, epoch microseconds
     * @param state what stands now; empty when there is nothing
     */
    public record Progress(boolean held, long nowUs, String state) {}
}

package io.minutehand.core.store;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.ScriptRunner.Call;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.api.RShardedTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Leases of buckets (Redisson locks), what waits in a shard, and hints that a job is due sooner than its owner thinks. Futures fail with
 * {@link StoreException}. Thread-safe.
 */
public final class LeaseStore {
    private static final int MINUTES_A_LOOK = 100;

    /**
     * How long a claim waits for another's lease: not at all. The lock takes what has passed by the wall clock off this, and would wait on
     * and take the lease some other time if a clock that is set back made the rest positive; so the least that cannot overflow, not 0.
     */
    private static final long NO_WAIT_MS = Long.MIN_VALUE / 2;

    private final StoreConnection connection;
    private final ScriptRunner runner;
    private final RedissonClient client;
    private final Keyspace keys;
    private final Executor executor;

    LeaseStore(StoreConnection connection, ScriptRunner runner, RedissonClient client, Executor executor) {
        this.connection = connection;
        this.runner = runner;
        this.client = client;
        this.keys = connection.keys();
        this.executor = executor;
    }

    /** The clock of the server that holds a shard. */
    public ServerClock clock(ShardId shard) {
        return connection.clock(shard);
    }

    /**
     * Takes a bucket's lease: a Redisson lock without waiting and without a watchdog, or, when that is refused for lack of memory, the script
     * that writes the same. A lease that the caller holds already starts anew.
     */
    public CompletableFuture<Boolean> claim(BucketId bucket, NodeId node, Duration lease) {
        String key = keys.lease(bucket);
        CompletableFuture<Boolean> claimed = new CompletableFuture<>();
        client.getLock(key)
                .tryLockAsync(NO_WAIT_MS, lease.toMillis(), TimeUnit.MILLISECONDS, node.owner())
                .whenComplete((held, failure) -> {
                    if (failure == null) {
                        runner.complete(() -> claimed.complete(held));
                    } else {
                        claimByScript(bucket, node, lease).whenComplete((taken, second) -> {
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

    CompletableFuture<Boolean> claimByScript(BucketId bucket, NodeId node, Duration lease) {
        Call call = new Call(Script.CLAIM)
                .key(keys.lease(bucket))
                .arg(node.holder())
                .arg(lease.toMillis());
        return run(call, bucket.shard(), 1).thenApply(reply -> reply.text(0).equals("OK"));
    }

    /** Prolongs leases of one shard (1 to 500 minutes); says per minute whether the caller still held it. */
    public CompletableFuture<List<Boolean>> renew(ShardId shard, List<Long> minutes, NodeId node, Duration lease) {
        Call call = leaseCall(Script.RENEW, shard, minutes).arg(node.holder()).arg(lease.toMillis());
        return run(call, shard, 0).thenApply(JobStore::verdicts);
    }

    /** Gives leases of one shard back (1 to 500 minutes); says per minute whether the caller still held it. */
    public CompletableFuture<List<Boolean>> release(ShardId shard, List<Long> minutes, NodeId node) {
        Call call = leaseCall(Script.RELEASE, shard, minutes).arg(node.holder());
        return run(call, shard, 0).thenApply(JobStore::verdicts);
    }

    /** Takes leases of one shard (1 to 500 minutes) from a node found dead; says per minute whether that node held it. */
    public CompletableFuture<List<Boolean>> breakLeases(ShardId shard, List<Long> minutes, String deadNode) {
        return run(leaseCall(Script.BREAK, shard, minutes).arg(deadNode), shard, 0)
                .thenApply(JobStore::verdicts);
    }

    private Call leaseCall(Script script, ShardId shard, List<Long> minutes) {
        Call call = new Call(script);
        minutes.forEach(minute -> call.key(keys.lease(new BucketId(shard, minute))));
        return call;
    }

    /**
     * Reads what a node must know of a shard.
     *
     * @param until last minute of interest
     * @param asked minutes whose first due time and lease are wanted, at most 200
     */
    public CompletableFuture<ShardLook> look(ShardId shard, long until, List<Long> asked) {
        Call call = new Call(Script.LOOK).key(keys.index(shard)).key(keys.inflight(shard));
        for (long minute : asked) {
            BucketId bucket = new BucketId(shard, minute);
            call.key(keys.bucket(bucket)).key(keys.lease(bucket));
        }
        call.arg(until).arg(MINUTES_A_LOOK);
        return run(call, shard, 0).thenApply(ShardLook::of);
    }

    /**
     * Listens to a shard's hints. They may be lost or come twice.
     *
     * @param listener is given the minute and the due time (epoch ms), on the store's executor
     * @return ends the listening
     */
    public CompletableFuture<Runnable> onWake(ShardId shard, Consumer<Wake> listener) {
        RShardedTopic topic = client.getShardedTopic(keys.wake(shard), StringCodec.INSTANCE);
        CompletableFuture<Runnable> listening = new CompletableFuture<>();
        topic.addListenerAsync(String.class, (channel, message) -> {
                    int space = message.indexOf(' ');
                    Wake wake = new Wake(
                            shard,
                            Long.parseLong(message.substring(0, space)),
                            Long.parseLong(message.substring(space + 1)));
                    executor.execute(() -> listener.accept(wake));
                })
                .whenComplete((id, failure) -> runner.complete(
                        failure == null
                                ? () -> listening.complete(() -> topic.removeListenerAsync(id))
                                : () -> listening.completeExceptionally(
                                        runner.translate("listening to " + keys.wake(shard), failure))));
        return listening;
    }

    /**
     * A hint that a job became the first of its bucket.
     *
     * @param shard where
     * @param minute the bucket's minute
     * @param dueMs epoch ms
     */
    public record Wake(ShardId shard, long minute, long dueMs) {}

    private CompletableFuture<Reply> run(Call call, ShardId shard, int timeAt) {
        return runner.run(call).thenApply(reply -> {
            clock(shard).sample(reply.sentNs(), reply.receivedNs(), reply.number(timeAt));
            return reply;
        });
    }
}

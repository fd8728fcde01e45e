package io.minutehand.core.store;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.ScriptRunner.Call;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What a person looks at: nodes, buckets, dead letters. Reads, each repeated until its deadline ({@code nanoTime}). Futures fail with
 * {@link StoreException}. Thread-safe.
 */
public final class AdminStore {
    /** Things of one call, at most. */
    public static final int BATCH = 500;

    /** Buckets of one call, at most. */
    public static final int BUCKETS = 200;

    private static final int ATTEMPT_AT = 2;
    private static final int DUE_AT = 10;
    private static final int CREATED_AT = 18;
    private static final int HEAD_BYTES = 36;

    private final StoreConnection connection;
    private final ScriptRunner runner;
    private final Keyspace keys;

    AdminStore(StoreConnection connection, ScriptRunner runner) {
        this.connection = connection;
        this.runner = runner;
        this.keys = connection.keys();
    }

    /**
     * A bucket as it is now.
     *
     * @param minute minutes since 1970
     * @param jobs that wait in it
     * @param firstDueMs when the first is due, epoch ms, -1 = it is empty
     * @param leaseMs how long its lease still runs, negative = nobody has it
     * @param node id of the node that has it, or null
     */
    public record BucketView(
            long minute,
            long jobs,
            long firstDueMs,
            long leaseMs,
            @Nullable String node) {}

    /**
     * A place in the dead letters of a shard.
     *
     * @param member digit of the record hash, then the job's id
     * @param diedAtMs epoch ms
     */
    public record Death(String member, long diedAtMs) {}

    /**
     * What is known of a dead letter without its body.
     *
     * @param diedAtMs epoch ms, -1 = it is not dead
     * @param bytes of its record, -1 = there is none
     * @param readable whether what follows is known: not of a record of a newer version, or one that was cut
     * @param attempt number of the last attempt
     * @param dueAt when that was due
     * @param createdAt when the job was accepted
     * @param reason why it died
     */
    public record Letter(
            long diedAtMs, long bytes, boolean readable, int attempt, Instant dueAt, Instant createdAt, String reason) {
        private static Letter of(long diedAtMs, long bytes, byte[] head) {
            if (!JobRecord.readable(head)) {
                return new Letter(diedAtMs, bytes, false, 0, Instant.EPOCH, Instant.EPOCH, "");
            }
            ByteBuffer in = ByteBuffer.wrap(head);
            return new Letter(
                    diedAtMs,
                    bytes,
                    true,
                    in.getShort(ATTEMPT_AT) & 0xffff,
                    Instant.ofEpochMilli(in.getLong(DUE_AT)),
                    Instant.ofEpochMilli(in.getLong(CREATED_AT)),
                    new String(head, HEAD_BYTES, head.length - HEAD_BYTES, StandardCharsets.UTF_8));
        }
    }

    /** Beat counters by node id: they rise while the nodes live. */
    public CompletableFuture<Map<String, Long>> beats(long deadlineNs) {
        Map<String, Long> beats = new LinkedHashMap<>();
        return beats(beats, deadlineNs).thenApply(all -> beats);
    }

    private CompletableFuture<Void> beats(Map<String, Long> beats, long deadlineNs) {
        return run(pageCall(keys.nodes(), 0, beats.size()), deadlineNs).thenCompose(reply -> {
            for (int i = 1; i < reply.size(); i += 2) {
                beats.put(reply.text(i), reply.number(i + 1) / 1000);
            }
            boolean more = reply.size() > 2 * BATCH;
            return more ? beats(beats, deadlineNs) : CompletableFuture.completedFuture(null);
        });
    }

    /** Buckets of one shard; their minutes come from {@link AuditStore#minutes}, at most {@link #BUCKETS}. */
    public CompletableFuture<List<BucketView>> buckets(ShardId shard, List<Long> minutes, long deadlineNs) {
        Call call = new Call(Script.BUCKETS);
        for (long minute : minutes) {
            BucketId bucket = new BucketId(shard, minute);
            call.key(keys.bucket(bucket)).key(keys.lease(bucket));
        }
        return run(call, deadlineNs).thenApply(reply -> {
            sample(reply, shard);
            List<BucketView> views = new ArrayList<>();
            for (int i = 0; i < minutes.size(); i++) {
                int at = 1 + 4 * i;
                String holder = reply.text(at + 3);
                views.add(new BucketView(
                        minutes.get(i),
                        reply.number(at),
                        reply.number(at + 1),
                        reply.number(at + 2),
                        holder.isEmpty() ? null : holder.substring(holder.lastIndexOf(':') + 1)));
            }
            return views;
        });
    }

    /**
     * Dead letters of one shard in the order of their deaths, at most {@link #BATCH}.
     *
     * @param fromMs deaths at this time (epoch ms) or later
     * @param skip of those, so many at the front are left out
     */
    public CompletableFuture<List<Death>> deaths(ShardId shard, long fromMs, int skip, long deadlineNs) {
        return run(pageCall(keys.dead(shard), fromMs, skip), deadlineNs).thenApply(reply -> {
            sample(reply, shard);
            List<Death> deaths = new ArrayList<>();
            for (int i = 1; i < reply.size(); i += 2) {
                deaths.add(new Death(reply.text(i), reply.number(i + 1)));
            }
            return deaths;
        });
    }

    /**
     * What is known of dead letters of one shard.
     *
     * @param members 1 to {@link #BATCH}
     * @return of the first of them, at least one: as many as the server could read in one go
     */
    public CompletableFuture<List<Letter>> letters(ShardId shard, List<String> members, long deadlineNs) {
        Call call = new Call(Script.LETTERS).key(keys.dead(shard)).keys(keys.allRecords(shard));
        members.forEach(call::arg);
        return run(call, deadlineNs).thenApply(reply -> {
            sample(reply, shard);
            List<Letter> letters = new ArrayList<>();
            for (int i = 1; i < reply.size(); i += 3) {
                letters.add(Letter.of(reply.number(i), reply.number(i + 1), reply.bytes(i + 2)));
            }
            return letters;
        });
    }

    private static Call pageCall(String key, long from, int skip) {
        return new Call(Script.PAGE).key(key).arg(from).arg(skip).arg(BATCH);
    }

    private CompletableFuture<Reply> run(Call call, long deadlineNs) {
        return runner.runUntil(call, deadlineNs);
    }

    private void sample(Reply reply, ShardId shard) {
        connection.clock(shard).sample(reply.sentNs(), reply.receivedNs(), reply.number(0));
    }
}

package io.minutehand.core.store;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.ScriptRunner.Call;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The scripts of the audit: some read a shard piece by piece, others judge such pieces atomically and, when told to, mend what is safe to mend.
 * A judging script looks again at everything that it was given, so that what moved since it was read is no finding.
 *
 * <p>Every call is repeated until its deadline ({@code nanoTime}); a repeat finds in order what the call before has mended. Futures fail with
 * {@link StoreException}. Thread-safe.
 */
public final class AuditStore {
    /** Things of one call, at most. */
    public static final int BATCH = 500;

    /** Buckets whose jobs one call counts atomically, at most: some milliseconds of the server's time. */
    public static final int COUNTED_BUCKETS = 3000;

    private final StoreConnection connection;
    private final ScriptRunner runner;
    private final Keyspace keys;

    AuditStore(StoreConnection connection, ScriptRunner runner) {
        this.connection = connection;
        this.runner = runner;
        this.keys = connection.keys();
    }

    /**
     * One of the three kinds of sorted sets that jobs stand in.
     *
     * @param shard the shard
     * @param state of the jobs that belong there: pending, in flight or dead
     * @param minute of a bucket, else 0
     */
    public record Place(ShardId shard, JobState state, long minute) {
        /** A bucket of jobs that wait. */
        public static Place bucket(ShardId shard, long minute) {
            return new Place(shard, JobState.PENDING, minute);
        }

        /** The receipts of a shard. */
        public static Place inFlight(ShardId shard) {
            return new Place(shard, JobState.IN_FLIGHT, 0);
        }

        /** The dead letters of a shard. */
        public static Place dead(ShardId shard) {
            return new Place(shard, JobState.DEAD, 0);
        }
    }

    /**
     * Some of what is scanned.
     *
     * @param cursor for the next call, "0" when there is no more
     * @param bytes of the records read; 0 where none were
     * @param items what was read; the same item may come twice in a scan
     */
    public record Page<T>(String cursor, long bytes, List<T> items) {
        /** Where a scan begins, and what its last page says. */
        public static final String START = "0";

        public boolean last() {
            return cursor.equals(START);
        }
    }

    /**
     * The header of a record.
     *
     * @param member digit of the record hash, then the job's id
     * @param state pending, in flight or dead; null of a record that cannot be read (of a newer version, or cut)
     * @param minute of the bucket that it waits in or was popped from
     */
    public record Head(String member, @Nullable JobState state, long minute) {
        /** The job's id. */
        public String id() {
            return ShardMap.idOf(member);
        }
    }

    /**
     * The waiting jobs of a shard, counted twice.
     *
     * @param counter what the ledger says
     * @param held what the buckets hold
     */
    public record Recount(long counter, long held) {}

    /** The ledger's own check of itself: one call of constant cost. */
    public CompletableFuture<LedgerState> ledger(ShardId shard, long deadlineNs) {
        Call call = new Call(Script.AUDIT)
                .key(keys.ledger(shard))
                .key(keys.inflight(shard))
                .key(keys.dead(shard));
        return run(call, deadlineNs).thenApply(reply -> LedgerState.of(sampled(reply, shard)));
    }

    /** Minutes of the index from {@code from} on, in order, at most {@link #BATCH}. */
    public CompletableFuture<List<Long>> minutes(ShardId shard, long from, long deadlineNs) {
        Call call =
                new Call(Script.PAGE).key(keys.index(shard)).arg(from).arg(0).arg(BATCH);
        return run(call, deadlineNs).thenApply(reply -> {
            List<Long> minutes = new ArrayList<>();
            for (int i = 1; i < sampled(reply, shard).size(); i += 2) {
                minutes.add(reply.number(i));
            }
            return minutes;
        });
    }

    /** Some members of a place, in no order. */
    public CompletableFuture<Page<String>> scan(Place place, String cursor, long deadlineNs) {
        Call call = new Call(Script.SCAN).key(keyOf(place)).arg(cursor).arg(BATCH);
        return run(call, deadlineNs).thenApply(reply -> {
            List<String> members = new ArrayList<>();
            for (int i = 1; i < reply.size(); i++) {
                members.add(reply.text(i));
            }
            return new Page<>(reply.text(0), 0, members);
        });
    }

    /**
     * Headers of some records of a record hash, in no order.
     *
     * @param hash 0 to 15
     * @param count records to aim at, 1 to {@link #BATCH}; the server reads them as a whole, so large ones want small counts
     */
    public CompletableFuture<Page<Head>> heads(ShardId shard, int hash, String cursor, int count, long deadlineNs) {
        Call call = new Call(Script.HEADS)
                .key(keys.allRecords(shard).get(hash))
                .arg(cursor)
                .arg(count);
        return run(call, deadlineNs).thenApply(reply -> {
            List<Head> heads = new ArrayList<>();
            for (int i = 2; i < reply.size(); i += 2) {
                heads.add(head(reply.text(i), reply.bytes(i + 1)));
            }
            return new Page<>(reply.text(0), reply.number(1), heads);
        });
    }

    private static Head head(String member, byte[] head) {
        if (head.length == 0) {
            return new Head(member, null, 0);
        }
        ByteBuffer in = ByteBuffer.wrap(head);
        @Nullable
        JobState state = switch (in.get(1)) {
            case 'P' -> JobState.PENDING;
            case 'I' -> JobState.IN_FLIGHT;
            case 'X' -> JobState.DEAD;
            default -> null;
        };
        return new Head(member, state, in.getInt(6) & 0xffff_ffffL);
    }

    /**
     * Judges records of one shard by where they are.
     *
     * @param heads 1 to {@link #BATCH}
     * @param mend whether what is not where it should be is put back
     * @return verdicts on the first of them, at least one: as many as the server could read in one go
     */
    public CompletableFuture<List<Verdict>> records(ShardId shard, List<Head> heads, boolean mend, long deadlineNs) {
        Call call = new Call(Script.RECORDS)
                .key(keys.inflight(shard))
                .key(keys.dead(shard))
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .keys(keys.allRecords(shard))
                .arg(mend ? 1 : 0);
        Map<Long, Integer> places = new LinkedHashMap<>();
        for (Head head : heads) {
            call.arg(head.member())
                    .arg(place(call, places, shard, head.minute()))
                    .arg(head.minute());
        }
        return run(call, deadlineNs).thenApply(reply -> verdicts(sampled(reply, shard)));
    }

    /**
     * Judges members of a place by their records.
     *
     * @param entries 1 to {@link #BATCH}, each with a member whose first character is a hexadecimal digit
     * @param mend whether those that stand for nothing are dropped
     * @return verdicts on the first of them, at least one
     */
    public CompletableFuture<List<Verdict>> entries(Place place, List<String> entries, boolean mend, long deadlineNs) {
        ShardId shard = place.shard();
        Call call = new Call(Script.ENTRIES)
                .key(keyOf(place))
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .keys(keys.allRecords(shard))
                .arg(mend ? 1 : 0)
                .arg(String.valueOf(place.state().code()))
                .arg(place.minute());
        entries.forEach(call::arg);
        return run(call, deadlineNs).thenApply(reply -> verdicts(sampled(reply, shard)));
    }

    /**
     * Judges whether the index names the buckets of these minutes just when they hold jobs.
     *
     * @param minutes 1 to {@link #BATCH}
     * @param mend whether the index is set right
     */
    public CompletableFuture<List<Verdict>> listing(ShardId shard, List<Long> minutes, boolean mend, long deadlineNs) {
        Call call = new Call(Script.LISTING)
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .arg(mend ? 1 : 0);
        Map<Long, Integer> places = new LinkedHashMap<>();
        minutes.forEach(minute -> call.arg(place(call, places, shard, minute)).arg(minute.longValue()));
        return run(call, deadlineNs).thenApply(reply -> verdicts(sampled(reply, shard)));
    }

    /**
     * Counts the waiting jobs of all buckets at one instant.
     *
     * @param minutes all that the index names, and others; at most {@link #COUNTED_BUCKETS}
     * @param mend whether the counter is set right, and that of orphans where it counted entries of jobs that had ended
     * @return nothing when the index names others
     */
    public CompletableFuture<Optional<Recount>> recount(
            ShardId shard, List<Long> minutes, boolean mend, long deadlineNs) {
        return recount(shard, minutes, true, mend, deadlineNs);
    }

    /** Counts the waiting jobs of some buckets; at most {@link #COUNTED_BUCKETS}. */
    public CompletableFuture<Long> held(ShardId shard, List<Long> minutes, long deadlineNs) {
        return recount(shard, minutes, false, false, deadlineNs)
                .thenApply(counted -> counted.orElseThrow().held());
    }

    private CompletableFuture<Optional<Recount>> recount(
            ShardId shard, List<Long> minutes, boolean whole, boolean mend, long deadlineNs) {
        Call call = new Call(Script.RECOUNT)
                .key(keys.ledger(shard))
                .key(keys.index(shard))
                .key(keys.inflight(shard))
                .key(keys.dead(shard))
                .arg(mend ? 1 : 0)
                .arg(whole ? 1 : 0);
        minutes.forEach(
                minute -> call.key(keys.bucket(new BucketId(shard, minute))).arg(minute.longValue()));
        return run(call, deadlineNs)
                .thenApply(reply -> reply.text(0).equals("OK")
                        ? Optional.of(new Recount(reply.number(2), reply.number(3)))
                        : Optional.empty());
    }

    /** Counters and sizes of a shard. */
    public CompletableFuture<ShardStats> stats(ShardId shard, long deadlineNs) {
        Call call = new Call(Script.STATS)
                .key(keys.ledger(shard))
                .key(keys.index(shard))
                .key(keys.inflight(shard))
                .key(keys.dead(shard));
        return run(call, deadlineNs).thenApply(reply -> ShardStats.of(sampled(reply, shard)));
    }

    private String keyOf(Place place) {
        ShardId shard = place.shard();
        return switch (place.state()) {
            case PENDING -> keys.bucket(new BucketId(shard, place.minute()));
            case IN_FLIGHT -> keys.inflight(shard);
            case DEAD -> keys.dead(shard);
            case DONE, CANCELLED ->
                throw new IllegalArgumentException("no jobs of state " + place.state() + " stand anywhere");
        };
    }

    /** The place among KEYS (from 1) of a bucket, which is declared when it is new. */
    private int place(Call call, Map<Long, Integer> places, ShardId shard, long minute) {
        return places.computeIfAbsent(minute, m -> {
            call.key(keys.bucket(new BucketId(shard, m)));
            return call.keys().size();
        });
    }

    private static List<Verdict> verdicts(Reply reply) {
        List<Verdict> verdicts = new ArrayList<>(reply.size() - 1);
        for (int i = 1; i < reply.size(); i++) {
            verdicts.add(Verdict.valueOf(reply.text(i)));
        }
        return verdicts;
    }

    private CompletableFuture<Reply> run(Call call, long deadlineNs) {
        return runner.runUntil(call, deadlineNs);
    }

    private Reply sampled(Reply reply, ShardId shard) {
        connection.clock(shard).sample(reply.sentNs(), reply.receivedNs(), reply.number(0));
        return reply;
    }
}

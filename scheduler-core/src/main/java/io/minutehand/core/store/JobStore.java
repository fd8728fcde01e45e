package io.minutehand.core.store;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Durability;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.ScriptRunner.Call;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The transitions of jobs: a method a script, typed answers. Methods without a deadline send one call and leave repeats to the caller;
 * those with one ({@code nanoTime}) repeat the very same call until then. Futures fail with {@link StoreException}. Thread-safe.
 */
public final class JobStore {
    /** The longest sleep of a bucket's owner: a job due within it must wake the owner. Its looks come every 2 s when idle. */
    static final long WAKE_HORIZON_MS = 2500;

    /** How long a node's last handout can be replayed: longer than any repeat of a call. */
    /** Epochs of settings begin with 1. */
    private static final long NO_EPOCH = 0;

    private static final long REPLAY_MS = 60_000;

    private final Keyspace keys;
    private final Function<ShardId, ServerClock> clocks;
    private final ScriptRunner runner;

    /** @param clocks the clock of the server that holds a shard */
    JobStore(Keyspace keys, Function<ShardId, ServerClock> clocks, ScriptRunner runner) {
        this.keys = keys;
        this.clocks = clocks;
        this.runner = runner;
    }

    /** The clock of the server that holds a shard. */
    public ServerClock clock(ShardId shard) {
        return clocks.apply(shard);
    }

    /**
     * Stores a batch.
     *
     * @param epoch the settings epoch that the caller knows
     * @param jobs 1 to 500, about 1 MiB at most
     */
    public CompletableFuture<ScheduleOutcome> schedule(ShardId shard, long epoch, List<NewJob> jobs) {
        return schedule(shard, epoch, jobs, Durability.MEMORY, false);
    }

    /**
     * As {@link #schedule(ShardId, long, List)}; then waits, on the same connection, until so many replicas have what this call or an earlier one
     * stored.
     *
     * @param earlier whether this shard is only an earlier home of the jobs: those that are not here are answered ABSENT
     */
    public CompletableFuture<ScheduleOutcome> schedule(
            ShardId shard, long epoch, List<NewJob> jobs, Durability durability, boolean earlier) {
        boolean durable = durability.replicas() > 0;
        Call call = scheduleCall(shard, epoch, jobs, durable, earlier);
        return (durable ? runner.runAndWait(call, durability) : runner.run(call))
                .thenApply(reply -> scheduleOutcome(sampled(reply, shard, 1)));
    }

    /**
     * Completes when the shard's server would store jobs; fails as {@link #schedule} does where it would not (full, a replica, too few replicas, no
     * disk), repeating in between until the deadline what may pass. A call of schedule without jobs, under an epoch that no shard has: writes nothing.
     *
     * @param deadlineNs {@code nanoTime} until which to repeat
     */
    public CompletableFuture<Void> takesJobs(ShardId shard, long deadlineNs) {
        return runner.runUntil(scheduleCall(shard, NO_EPOCH, List.of(), false, false), deadlineNs)
                .thenAccept(reply -> sampled(reply, shard, 1));
    }

    private Call scheduleCall(ShardId shard, long epoch, List<NewJob> jobs, boolean durable, boolean earlier) {
        Call call = new Call(Script.SCHEDULE)
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .key(keys.dead(shard))
                .key(keys.wake(shard));
        List<String> members =
                jobs.stream().map(job -> ShardMap.memberOf(job.id())).toList();
        String beginnings = recordKeys(call, shard, members);
        jobs.forEach(job -> call.key(keys.end(shard, job.id())));
        Map<Long, Integer> bucketAt = new LinkedHashMap<>();
        long passedMs = clock(shard).passedMs();
        call.arg(epoch)
                .arg(WAKE_HORIZON_MS)
                .arg(jobs.size())
                .arg(durable ? 1 : 0)
                .arg(earlier ? 1 : 0)
                .arg(beginnings);
        for (int i = 0; i < jobs.size(); i++) {
            NewJob job = jobs.get(i);
            long minute = Minutes.label(job.dueMs(), passedMs);
            long from = job.fromMinute();
            call.arg(members.get(i))
                    .arg(job.dueMs())
                    .arg(minute)
                    .arg(bucketKey(call, bucketAt, shard, minute))
                    .arg(job.digest())
                    .arg(job.replace() ? "R" : "K")
                    .arg(from == 0 ? 0 : bucketKey(call, bucketAt, shard, from))
                    .arg(from)
                    .arg(job.body());
        }
        return call;
    }

    /**
     * Declares the record hashes of some members, each once: few calls need all sixteen, and a key costs client and server something.
     *
     * @return the digits that these members begin with, in the order of the keys
     */
    private String recordKeys(Call call, ShardId shard, List<String> members) {
        List<String> all = keys.allRecords(shard);
        int named = 0;
        for (String member : members) {
            named |= 1 << Character.digit(member.charAt(0), ShardMap.RECORD_HASHES);
        }
        StringBuilder beginnings = new StringBuilder(ShardMap.RECORD_HASHES);
        for (int digit = 0; digit < ShardMap.RECORD_HASHES; digit++) {
            if ((named & 1 << digit) != 0) {
                call.key(all.get(digit));
                beginnings.append(Character.forDigit(digit, ShardMap.RECORD_HASHES));
            }
        }
        return beginnings.toString();
    }

    /** The place among KEYS (from 1) of a bucket, which is declared when it is new. */
    private int bucketKey(Call call, Map<Long, Integer> places, ShardId shard, long minute) {
        return places.computeIfAbsent(minute, m -> {
            call.key(keys.bucket(new BucketId(shard, m)));
            return call.keys().size();
        });
    }

    private static ScheduleOutcome scheduleOutcome(Reply reply) {
        ScheduleOutcome.Status status = reply.status(ScheduleOutcome.Status.class);
        List<ScheduleOutcome.Item> items = new ArrayList<>();
        for (int i = 2; i < reply.size(); i += 2) {
            ScheduleOutcome.ItemStatus item = ScheduleOutcome.ItemStatus.valueOf(reply.text(i));
            String detail = reply.text(i + 1);
            boolean elsewhere = item == ScheduleOutcome.ItemStatus.ELSEWHERE;
            items.add(new ScheduleOutcome.Item(
                    item,
                    elsewhere || detail.equals("-") ? null : JobState.ofCode(detail.charAt(0)),
                    elsewhere ? Long.parseLong(detail) : 0));
        }
        return new ScheduleOutcome(status, items, reply.replicas());
    }

    /**
     * Hands due jobs of a bucket to the node.
     *
     * @param node the caller, with its lease holder
     * @param seq the node's call number on this shard; a repeat carries the same
     * @param limit jobs at most, 1 to 500
     */
    public CompletableFuture<Handout> pop(BucketId bucket, NodeId node, long seq, int limit, Duration visibility) {
        ShardId shard = bucket.shard();
        Call call = new Call(Script.POP)
                .key(keys.bucket(bucket))
                .key(keys.index(shard))
                .key(keys.lease(bucket))
                .key(keys.inflight(shard))
                .key(keys.pops(shard, node.id()))
                .key(keys.ledger(shard))
                .keys(keys.allRecords(shard))
                .arg(node.holder())
                .arg(node.id())
                .arg(seq)
                .arg(limit)
                .arg(visibility.toMillis())
                .arg(bucket.minute())
                .arg(REPLAY_MS);
        return run(call, shard, 1).thenApply(reply -> handout(shard, node.id(), seq, reply));
    }

    /**
     * Hands jobs to the node whose deadline has passed, or that a dead node has.
     *
     * @param from id of the dead node, or empty: whatever is past its deadline
     * @param offset with {@code from}: receipts at the front that were looked at already
     */
    public CompletableFuture<Handout> recover(
            ShardId shard, NodeId node, long seq, int limit, Duration visibility, String from, int offset) {
        Call call = new Call(Script.RECOVER)
                .key(keys.inflight(shard))
                .key(keys.pops(shard, node.id()))
                .key(keys.ledger(shard))
                .keys(keys.allRecords(shard))
                .arg(node.id())
                .arg(seq)
                .arg(limit)
                .arg(visibility.toMillis())
                .arg(REPLAY_MS)
                .arg(from)
                .arg(offset);
        return run(call, shard, 1).thenApply(reply -> handout(shard, node.id(), seq, reply));
    }

    private static Handout handout(ShardId shard, String node, long seq, Reply reply) {
        Handout.Status status = reply.status(Handout.Status.class);
        if (status != Handout.Status.OK) {
            return new Handout(status, -1, 0, List.of());
        }
        List<HandedJob> jobs = new ArrayList<>((reply.size() - 4) / 2);
        for (int i = 4; i < reply.size(); i += 2) {
            String member = reply.text(i);
            byte[] record = reply.bytes(i + 1);
            var decoded = JobRecord.decode(shard.topic(), member, record);
            jobs.add(new HandedJob(
                    shard,
                    new Receipt(decoded.job().delivery(), node, seq, member),
                    decoded.job(),
                    JobRecord.digestOf(record),
                    decoded.damage()));
        }
        return new Handout(status, reply.number(2), (int) reply.number(3), jobs);
    }

    /**
     * Ends handled jobs of one shard.
     *
     * @param jobs 1 to 500
     * @return per job whether its receipt was good
     */
    public CompletableFuture<List<Boolean>> ack(ShardId shard, List<HandedJob> jobs, Duration retention) {
        Call call = new Call(Script.ACK).key(keys.inflight(shard)).key(keys.ledger(shard));
        String beginnings = recordKeys(
                call, shard, jobs.stream().map(job -> job.receipt().member()).toList());
        call.arg(retention.toMillis()).arg(beginnings);
        for (HandedJob job : jobs) {
            if (!retention.isZero()) {
                call.key(keys.end(shard, job.job().id()));
            }
            call.arg(job.receipt().toString()).arg(job.digest());
        }
        return run(call, shard, 0).thenApply(JobStore::verdicts);
    }

    /** Moves the deadlines of running jobs of one shard (1 to 500); says per job whether its receipt was good. */
    public CompletableFuture<List<Boolean>> extend(ShardId shard, List<Receipt> receipts, Duration visibility) {
        Call call = new Call(Script.EXTEND).key(keys.inflight(shard)).arg(visibility.toMillis());
        receipts.forEach(receipt -> call.arg(receipt.toString()));
        return run(call, shard, 0).thenApply(JobStore::verdicts);
    }

    static List<Boolean> verdicts(Reply reply) {
        List<Boolean> good = new ArrayList<>(reply.size() - 1);
        for (int i = 1; i < reply.size(); i++) {
            good.add(reply.text(i).equals("OK"));
        }
        return good;
    }

    /**
     * Puts a job in flight back to wait.
     *
     * @param counted true: a failed attempt; false: handed back unrun
     * @param reason of the failure; empty keeps the stored one
     * @return whether the receipt was good
     */
    public CompletableFuture<Boolean> retry(HandedJob job, long dueMs, boolean counted, String reason) {
        ShardId shard = job.shard();
        long minute = Minutes.label(dueMs, clock(shard).passedMs());
        Call call = new Call(Script.RETRY)
                .key(keys.inflight(shard))
                .key(keys.bucket(new BucketId(shard, minute)))
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .key(keys.records(shard, job.receipt().member()))
                .key(keys.wake(shard))
                .arg(job.receipt().toString())
                .arg(dueMs)
                .arg(minute)
                .arg(counted ? 1 : 0)
                .arg(JobRecord.reason(reason))
                .arg(WAKE_HORIZON_MS);
        return run(call, shard, 1).thenApply(reply -> reply.text(0).equals("OK"));
    }

    /** Ends a job in flight as a dead letter; answers how many older ones went for it, or nothing when the receipt was stale. */
    public CompletableFuture<Optional<Integer>> bury(HandedJob job, String reason, TopicSettings settings) {
        ShardId shard = job.shard();
        Call call = new Call(Script.BURY)
                .key(keys.inflight(shard))
                .key(keys.dead(shard))
                .key(keys.ledger(shard))
                .keys(keys.allRecords(shard))
                .arg(job.receipt().toString())
                .arg(JobRecord.reason(reason))
                .arg(settings.deadLimitPerShard())
                .arg(settings.deadAge().toMillis());
        return run(call, shard, 1)
                .thenApply(reply -> reply.text(0).equals("OK") ? Optional.of((int) reply.number(2)) : Optional.empty());
    }

    /** Ends a pending job; repeats, and follows the job to its bucket, until the deadline. */
    public CompletableFuture<MoveOutcome> cancel(ShardId shard, String id, Duration retention, long deadlineNs) {
        return cancel(shard, id, 0, retention, deadlineNs);
    }

    private CompletableFuture<MoveOutcome> cancel(
            ShardId shard, String id, long minute, Duration retention, long deadlineNs) {
        String member = ShardMap.memberOf(id);
        Call call = new Call(Script.CANCEL)
                .key(keys.bucket(new BucketId(shard, minute)))
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .key(keys.records(shard, member))
                .key(keys.end(shard, id))
                .arg(member)
                .arg(minute)
                .arg(retention.toMillis());
        return runUntil(call, shard, deadlineNs)
                .thenCompose(reply -> reply.text(0).equals("ELSEWHERE")
                        ? cancel(shard, id, reply.number(2), retention, deadlineNs)
                        : CompletableFuture.completedFuture(moveOutcome(reply)));
    }

    /** Moves a pending job to another time; repeats, and follows the job to its bucket, until the deadline. */
    public CompletableFuture<MoveOutcome> reschedule(ShardId shard, String id, long dueMs, long deadlineNs) {
        return reschedule(shard, id, 0, dueMs, deadlineNs);
    }

    private CompletableFuture<MoveOutcome> reschedule(
            ShardId shard, String id, long fromMinute, long dueMs, long deadlineNs) {
        String member = ShardMap.memberOf(id);
        long toMinute = Minutes.label(dueMs, clock(shard).passedMs());
        Call call = new Call(Script.RESCHEDULE)
                .key(keys.bucket(new BucketId(shard, fromMinute)))
                .key(keys.bucket(new BucketId(shard, toMinute)))
                .key(keys.index(shard))
                .key(keys.records(shard, member))
                .key(keys.end(shard, id))
                .key(keys.wake(shard))
                .key(keys.ledger(shard))
                .arg(member)
                .arg(fromMinute)
                .arg(dueMs)
                .arg(toMinute)
                .arg(WAKE_HORIZON_MS);
        return runUntil(call, shard, deadlineNs)
                .thenCompose(reply -> reply.text(0).equals("ELSEWHERE")
                        ? reschedule(shard, id, reply.number(2), dueMs, deadlineNs)
                        : CompletableFuture.completedFuture(moveOutcome(reply)));
    }

    private static MoveOutcome moveOutcome(Reply reply) {
        MoveOutcome.Status status = reply.status(MoveOutcome.Status.class);
        return switch (status) {
            case ENDED -> new MoveOutcome(status, JobState.ofCode(reply.text(2).charAt(0)), 0);
            case NOT_FOUND -> new MoveOutcome(status, null, reply.number(2));
            default -> new MoveOutcome(status, null, 0);
        };
    }

    /**
     * Reads a job by id; nothing when there is none, or its tombstone has gone. Fails with {@link StoreException} (REFUSED) when its record is
     * of a newer version: it exists, and more cannot be told.
     */
    public CompletableFuture<Optional<JobStatus>> find(ShardId shard, String id, long deadlineNs) {
        return look(shard, id, deadlineNs).thenApply(found -> Optional.ofNullable(found.job()));
    }

    /**
     * What {@link #look} answered.
     *
     * @param job what is stored of the job, or null when there is nothing
     * @param epoch with null: the shard's settings epoch, 0 = none; where it is another than the caller's, the job may have another home by now
     */
    public record Found(@Nullable JobStatus job, long epoch) {}

    /** As {@link #find}, with what tells whether this is still the place to look at. */
    public CompletableFuture<Found> look(ShardId shard, String id, long deadlineNs) {
        String member = ShardMap.memberOf(id);
        Call call = new Call(Script.FIND)
                .key(keys.records(shard, member))
                .key(keys.end(shard, id))
                .key(keys.ledger(shard))
                .arg(member);
        return runUntil(call, shard, deadlineNs).thenApply(reply -> switch (reply.text(0)) {
            case "RECORD" -> {
                if (!JobRecord.readable(reply.bytes(2))) {
                    throw new StoreException(
                            StoreException.Kind.REFUSED,
                            "topic=" + shard.topic() + " job=" + id
                                    + " exists, its record is of a newer version or damaged; ask with a newer version of this library",
                            null);
                }
                var job =
                        JobRecord.decode(shard.topic(), member, reply.bytes(2)).job();
                yield new Found(new JobStatus(id, job.state(), job), 0);
            }
            case "ENDED" ->
                new Found(new JobStatus(id, JobState.ofCode(reply.text(2).charAt(0)), null), 0);
            default -> new Found(null, reply.number(2));
        });
    }

    /** Gives a dead letter another life; false when it is not dead, or died another time. */
    public CompletableFuture<Boolean> redrive(ShardId shard, String id, long diedAtMs, long dueMs) {
        return redrive(shard, id, diedAtMs, dueMs, new byte[0], System.nanoTime());
    }

    /** The same with another body (empty: its own), repeated until the deadline; a repeat of what was done answers false. */
    public CompletableFuture<Boolean> redrive(
            ShardId shard, String id, long diedAtMs, long dueMs, byte[] body, long deadlineNs) {
        String member = ShardMap.memberOf(id);
        long minute = Minutes.label(dueMs, clock(shard).passedMs());
        Call call = new Call(Script.REDRIVE)
                .key(keys.dead(shard))
                .key(keys.bucket(new BucketId(shard, minute)))
                .key(keys.index(shard))
                .key(keys.ledger(shard))
                .key(keys.records(shard, member))
                .key(keys.wake(shard))
                .arg(member)
                .arg(diedAtMs)
                .arg(dueMs)
                .arg(minute)
                .arg(WAKE_HORIZON_MS)
                .arg(body);
        return runUntil(call, shard, deadlineNs)
                .thenApply(reply -> reply.text(0).equals("OK"));
    }

    /** Forgets a dead letter; false when it is not dead, or died another time. */
    public CompletableFuture<Boolean> purge(ShardId shard, String id, long diedAtMs) {
        return purge(shard, id, diedAtMs, System.nanoTime());
    }

    /** The same, repeated until the deadline; a repeat of what was done answers false. */
    public CompletableFuture<Boolean> purge(ShardId shard, String id, long diedAtMs, long deadlineNs) {
        String member = ShardMap.memberOf(id);
        Call call = new Call(Script.PURGE)
                .key(keys.dead(shard))
                .key(keys.ledger(shard))
                .key(keys.records(shard, member))
                .arg(member)
                .arg(diedAtMs);
        return runUntil(call, shard, deadlineNs)
                .thenApply(reply -> reply.text(0).equals("OK"));
    }

    /** Counters and sizes of a shard. */
    public CompletableFuture<ShardStats> stats(ShardId shard) {
        Call call = new Call(Script.STATS)
                .key(keys.ledger(shard))
                .key(keys.index(shard))
                .key(keys.inflight(shard))
                .key(keys.dead(shard));
        return run(call, shard, 0).thenApply(ShardStats::of);
    }

    /** Jobs that are missing: those accepted that the ledger cannot account for, and orphans, whose record was lost. */
    public CompletableFuture<Long> audit(ShardId shard) {
        Call call = new Call(Script.AUDIT)
                .key(keys.ledger(shard))
                .key(keys.inflight(shard))
                .key(keys.dead(shard));
        return run(call, shard, 0).thenApply(reply -> reply.number(1) + reply.number(5));
    }

    private CompletableFuture<Reply> run(Call call, ShardId shard, int timeAt) {
        return runner.run(call).thenApply(reply -> sampled(reply, shard, timeAt));
    }

    private CompletableFuture<Reply> runUntil(Call call, ShardId shard, long deadlineNs) {
        return runner.runUntil(call, deadlineNs).thenApply(reply -> sampled(reply, shard, 1));
    }

    private Reply sampled(Reply reply, ShardId shard, int timeAt) {
        clock(shard).sample(reply.sentNs(), reply.receivedNs(), reply.number(timeAt));
        return reply;
    }
}

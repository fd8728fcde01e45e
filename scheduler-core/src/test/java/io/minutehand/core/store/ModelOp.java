package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.topic.TopicSettings;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** One call of a random sequence, with all its arguments, so that a sequence can be run again with some of its calls left out. */
interface ModelOp {
    TopicSettings SETTINGS = TopicSettings.defaults()
            .withShards(1)
            .withDeadLimit(ShardModel.DEAD_LIMIT)
            .withDeadAge(Duration.ofMillis(ShardModel.DEAD_AGE_MS));

    /** What the model answers. */
    String on(ShardModel model);

    /** What the store answers, in the model's words. */
    String on(TestStore store);

    /** Whether the very same call, right after it answered {@code first}, may answer {@code second}. */
    default boolean agrees(String first, String second) {
        return first.equals(second);
    }

    /** The script by which the store makes the call, the last one if it takes several. */
    default Script script() {
        return Script.valueOf(getClass().getSimpleName().toUpperCase(Locale.ROOT));
    }

    /** Whether the very same call may write again. */
    default boolean repeatsChange() {
        return false;
    }

    /** A call that gives jobs to a node. */
    interface HandsOut extends ModelOp {
        Handout handout(TestStore store);
    }

    record Advance(long nowMs) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            model.now = nowMs;
            model.expire();
            return "";
        }

        @Override
        public String on(TestStore store) {
            store.now(nowMs);
            return "";
        }
    }

    record Schedule(List<NewJob> jobs) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.schedule(jobs);
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.schedule(store.shard(), 1, jobs)).items().stream()
                    .map(item -> item.status() + " "
                            + (item.state() != null
                                    ? String.valueOf(item.state().code())
                                    : item.minute() > 0 ? Long.toString(item.minute()) : "-"))
                    .toList()
                    .toString();
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals(first.replace("CREATED -", "EXISTS P").replaceAll("REPLACED .", "EXISTS P"));
        }

        @Override
        public String toString() {
            return "Schedule"
                    + jobs.stream()
                            .map(job -> job.id() + " due=" + ShardImage.time(job.dueMs()) + " digest="
                                    + (char) job.digest()[0]
                                    + (job.replace() ? " replacing from " + ShardImage.minute(job.fromMinute()) : ""))
                            .toList();
        }
    }

    record Pop(long node, long minute, long seq, int limit) implements HandsOut {
        @Override
        public String on(ShardModel model) {
            return model.pop(node, minute, seq, limit);
        }

        @Override
        public String on(TestStore store) {
            return shown(handout(store));
        }

        @Override
        public Handout handout(TestStore store) {
            return get(store.jobs.pop(
                    new BucketId(store.shard(), minute), store.node(node), seq, limit, TestStore.VISIBILITY));
        }
    }

    record Recover(long node, long seq, int limit, String from) implements HandsOut {
        @Override
        public String on(ShardModel model) {
            return model.recover(node, seq, limit, from);
        }

        @Override
        public String on(TestStore store) {
            return shown(handout(store));
        }

        @Override
        public Handout handout(TestStore store) {
            return store.recover(node, seq, limit, from);
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals(first.replace("next=0", "next=1"));
        }
    }

    record Ack(List<HandedJob> jobs, boolean kept) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.ack(receipts(), retention().toMillis());
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.ack(
                            store.shard(),
                            jobs.stream().map(job -> in(store, job)).toList(),
                            retention()))
                    .toString();
        }

        private List<String> receipts() {
            return jobs.stream().map(job -> job.receipt().toString()).toList();
        }

        private Duration retention() {
            return kept ? TestStore.RETENTION : Duration.ZERO;
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals(first.replace("true", "false"));
        }

        @Override
        public String toString() {
            return "Ack" + receipts() + (kept ? "" : " without retention");
        }
    }

    record Extend(List<Receipt> receipts) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.extend(receipts.stream().map(Receipt::toString).toList());
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.extend(store.shard(), receipts, TestStore.VISIBILITY))
                    .toString();
        }
    }

    record Retry(HandedJob job, long dueMs, boolean counted, String reason) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.retry(job.receipt().toString(), dueMs, counted, reason);
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.retry(in(store, job), dueMs, counted, reason)).toString();
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals("false");
        }

        @Override
        public String toString() {
            return "Retry[" + job.receipt() + " due=" + ShardImage.time(dueMs) + (counted ? " counted" : " unrun")
                    + "]";
        }
    }

    record Bury(HandedJob job, String reason) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.bury(job.receipt().toString(), reason);
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.bury(in(store, job), reason, SETTINGS)).toString();
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals("Optional.empty");
        }

        @Override
        public String toString() {
            return "Bury[" + job.receipt() + "]";
        }
    }

    record Cancel(String id, boolean kept) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.cancel(id, kept ? TestStore.RETENTION.toMillis() : 0);
        }

        @Override
        public String on(TestStore store) {
            return shown(get(store.jobs.cancel(store.shard(), id, kept ? TestStore.RETENTION : Duration.ZERO, soon())));
        }

        @Override
        public boolean agrees(String first, String second) {
            return first.equals(second) || (!kept && second.equals("NOT_FOUND null"));
        }
    }

    record Reschedule(String id, long dueMs) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.reschedule(id, dueMs);
        }

        @Override
        public String on(TestStore store) {
            return shown(get(store.jobs.reschedule(store.shard(), id, dueMs, soon())));
        }
    }

    record Redrive(String id, long diedAtMs, long dueMs) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.redrive(id, diedAtMs, dueMs);
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.redrive(store.shard(), id, diedAtMs, dueMs)).toString();
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals("false");
        }
    }

    record Purge(String id, long diedAtMs) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.purge(id, diedAtMs);
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.purge(store.shard(), id, diedAtMs)).toString();
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals("false");
        }
    }

    record Claim(long node, long minute, boolean byScript) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.claim(node, minute, byScript);
        }

        @Override
        public String on(TestStore store) {
            BucketId bucket = new BucketId(store.shard(), minute);
            return get(byScript
                            ? store.leases.claimByScript(bucket, store.node(node), TestStore.LEASE)
                            : store.leases.claim(bucket, store.node(node), TestStore.LEASE))
                    .toString();
        }

        @Override
        public boolean repeatsChange() {
            return !byScript; // Redisson counts how often its holder took a lock
        }
    }

    record Renew(long node, List<Long> minutes) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.renew(node, minutes);
        }

        @Override
        public String on(TestStore store) {
            return get(store.leases.renew(store.shard(), minutes, store.node(node), TestStore.LEASE))
                    .toString();
        }
    }

    record Release(long node, List<Long> minutes, boolean broken) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.release(node, minutes);
        }

        @Override
        public String on(TestStore store) {
            return get(broken
                            ? store.leases.breakLeases(store.shard(), minutes, Long.toString(node))
                            : store.leases.release(store.shard(), minutes, store.node(node)))
                    .toString();
        }

        @Override
        public Script script() {
            return broken ? Script.BREAK : Script.RELEASE;
        }

        @Override
        public boolean agrees(String first, String second) {
            return second.equals(first.replace("true", "false"));
        }
    }

    record Find(String id) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.find(id);
        }

        @Override
        public String on(TestStore store) {
            return get(store.jobs.find(store.shard(), id, soon()))
                    .map(status -> status.job() == null
                            ? "ended " + status.state().code()
                            : status.state().code() + " attempt=" + status.job().attempt() + " delivery="
                                    + status.job().delivery() + " due="
                                    + status.job().dueAt().toEpochMilli()
                                    + " reason=" + status.job().lastFailure())
                    .orElse("none");
        }
    }

    record Look(long until, long asked) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return model.look(until, asked);
        }

        @Override
        public String on(TestStore store) {
            ShardLook look = get(store.leases.look(store.shard(), until, List.of(asked)));
            return look.deadlineMs() + " " + look.inFlight() + " " + look.minutes() + " " + look.nextMinute() + " "
                    + look.buckets().get(0).firstDueMs() + " "
                    + (look.buckets().get(0).leaseMs() >= 0);
        }
    }

    record Audit() implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return Long.toString(model.audit());
        }

        @Override
        public String on(TestStore store) {
            return Long.toString(get(store.jobs.audit(store.shard())));
        }
    }

    /** Somebody writes an entry into a bucket by hand: whatever its job is doing, it must not be handed out for that. */
    record Stray(String id, long minute, long dueMs) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return Boolean.toString(model.stray(id, minute, dueMs));
        }

        @Override
        public String on(TestStore store) {
            ShardId shard = store.shard();
            String member = ShardMap.memberOf(id);
            Object record = store.redis.call("HGET", store.keys.records(shard, member), member);
            boolean waitsThere = record instanceof byte[] bytes
                    && bytes[1] == 'P'
                    && ByteBuffer.wrap(bytes).getInt(6) == minute;
            if (!waitsThere) {
                store.redis.call("ZADD", store.keys.bucket(new BucketId(shard, minute)), dueMs, member);
                store.redis.call("ZADD", store.keys.index(shard), minute, minute);
            }
            return Boolean.toString(!waitsThere);
        }
    }

    /** A call that is sent again, now or later, with the same arguments. */
    record Repeat(ModelOp call) implements ModelOp {
        @Override
        public String on(ShardModel model) {
            return call.on(model);
        }

        @Override
        public String on(TestStore store) {
            return call.on(store);
        }

        @Override
        public Script script() {
            return call.script();
        }
    }

    /** What ack, retry and bury need of a job that was once handed out. */
    static HandedJob handed(Receipt receipt, byte[] digest) {
        Job job = new Job(
                "topic",
                ShardMap.idOf(receipt.member()),
                null,
                Map.of(),
                new byte[0],
                JobState.IN_FLIGHT,
                1,
                receipt.delivery(),
                Instant.EPOCH,
                Instant.EPOCH,
                null);
        return new HandedJob(null, receipt, job, digest, null);
    }

    private static HandedJob in(TestStore store, HandedJob job) {
        return new HandedJob(store.shard(), job.receipt(), job.job(), job.digest(), job.damage());
    }

    static String shown(Handout handout) {
        if (handout.status() != Handout.Status.OK) {
            return handout.status().name();
        }
        StringBuilder shown = new StringBuilder("OK next=" + handout.next());
        for (HandedJob job : handout.jobs()) {
            shown.append(' ')
                    .append(job.receipt())
                    .append('#')
                    .append(job.job().attempt())
                    .append('@')
                    .append(job.job().dueAt().toEpochMilli());
        }
        return shown.toString();
    }

    private static String shown(MoveOutcome outcome) {
        return outcome.status() + " " + outcome.state();
    }
}

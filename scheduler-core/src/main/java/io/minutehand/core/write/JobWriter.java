package io.minutehand.core.write;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Durability;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.ScheduleOutcome;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.WriteResult.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Stores a batch of jobs, whatever comes between: repeats the very same call after a lost reply or an outage until the deadline, reads the
 * topic's settings again when they are stale, and follows a job that is to be replaced to its bucket. So each job gets one true answer, and
 * UNKNOWN only after the deadline, only if a reply was lost. Thread-safe.
 */
public final class JobWriter {
    private static final long FIRST_PAUSE_MS = 20;
    private static final long LONGEST_PAUSE_MS = 500;

    private final JobStore store;
    private final TopicRegistry topics;
    private final Executor executor;
    private final Durability durability;

    /** A writer whose jobs count as stored when the primary has them. */
    public JobWriter(JobStore store, TopicRegistry topics, Executor executor) {
        this(store, topics, executor, Durability.MEMORY);
    }

    public JobWriter(JobStore store, TopicRegistry topics, Executor executor, Durability durability) {
        this.durability = durability;
        this.store = store;
        this.topics = topics;
        this.executor = executor;
    }

    /**
     * Stores jobs of one topic, at most {@link io.minutehand.core.job.Limits#BATCH_JOBS} and about 1 MiB; they may lie in several shards.
     *
     * @param deadlineNs nanoTime after which no repeat is sent
     * @return a result per job, in order; fails with {@link StoreException} (REFUSED) when Redis refuses for good
     */
    public CompletableFuture<List<WriteResult>> write(StoredTopic topic, List<NewJob> jobs, long deadlineNs) {
        Batch batch = new Batch(topic.topic(), jobs, deadlineNs);
        List<Integer> all = new ArrayList<>(jobs.size());
        for (int i = 0; i < jobs.size(); i++) {
            all.add(i);
        }
        return batch.writeAll(topic, all, false).thenApply(done -> List.of(batch.results));
    }

    /** One write call and what is known of each of its jobs. Different shards' replies touch different jobs only. */
    private final class Batch {
        private final String topic;
        private final List<NewJob> jobs;
        private final long deadlineNs;
        private final WriteResult[] results;

        Batch(String topic, List<NewJob> jobs, long deadlineNs) {
            this.topic = topic;
            this.jobs = new ArrayList<>(jobs);
            this.deadlineNs = deadlineNs;
            this.results = new WriteResult[jobs.size()];
        }

        /** @param doubtful whether an earlier call may have stored some of these */
        CompletableFuture<Void> writeAll(StoredTopic view, List<Integer> open, boolean doubtful) {
            Map<Integer, List<Integer>> byShard = new TreeMap<>();
            for (int i : open) {
                int shard = ShardMap.shardOf(jobs.get(i).id(), view.settings().shards());
                byShard.computeIfAbsent(shard, s -> new ArrayList<>()).add(i);
            }
            List<CompletableFuture<Void>> writes = new ArrayList<>(byShard.size());
            byShard.forEach((shard, part) ->
                    writes.add(write(view, new ShardId(topic, shard), part, doubtful, FIRST_PAUSE_MS)));
            return writes.size() == 1
                    ? writes.get(0)
                    : CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new));
        }

        private CompletableFuture<Void> write(
                StoredTopic view, ShardId shard, List<Integer> open, boolean doubtful, long pauseMs) {
            List<NewJob> part = new ArrayList<>(open.size());
            open.forEach(i -> part.add(jobs.get(i)));
            return store.schedule(shard, view.epoch(), part, durability)
                    .handle((outcome, failure) -> failure == null
                            ? answered(view, shard, open, doubtful, pauseMs, outcome)
                            : failed(view, shard, open, doubtful, pauseMs, StoreException.of(failure)))
                    .thenCompose(next -> next);
        }

        private CompletableFuture<Void> answered(
                StoredTopic view,
                ShardId shard,
                List<Integer> open,
                boolean doubtful,
                long pauseMs,
                ScheduleOutcome outcome) {
            switch (outcome.status()) {
                case OK -> {
                    List<Integer> elsewhere = new ArrayList<>();
                    for (int k = 0; k < open.size(); k++) {
                        ScheduleOutcome.Item item = outcome.items().get(k);
                        int i = open.get(k);
                        if (item.status() == ScheduleOutcome.ItemStatus.ELSEWHERE) {
                            jobs.set(i, jobs.get(i).replacingFrom(item.minute()));
                            elsewhere.add(i);
                        } else {
                            Status status = statusOf(item.status());
                            boolean missed = status.accepted() && outcome.replicas() < durability.replicas();
                            results[i] = new WriteResult(missed ? Status.STORED_NOT_REPLICATED : status, item.state());
                        }
                    }
                    return elsewhere.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : unlessLate(elsewhere, doubtful, () -> write(view, shard, elsewhere, doubtful, pauseMs));
                }
                case STALE_SETTINGS -> {
                    return unlessLate(
                            open,
                            doubtful,
                            () -> pause(pauseMs)
                                    .thenCompose(paused -> topics.refresh(topic, deadlineNs))
                                    .handle((fresh, failure) -> failure == null
                                            ? writeAll(fresh, open, doubtful)
                                            : failed(view, shard, open, doubtful, pauseMs, StoreException.of(failure)))
                                    .thenCompose(next -> next));
                }
                default -> {
                    // CLOCK_AHEAD: the reply has set the clock right, the labels are made anew.
                    return unlessLate(open, doubtful, () -> write(view, shard, open, doubtful, pauseMs));
                }
            }
        }

        private CompletableFuture<Void> failed(
                StoredTopic view,
                ShardId shard,
                List<Integer> open,
                boolean doubtful,
                long pauseMs,
                StoreException failure) {
            boolean nowDoubtful = doubtful || failure.kind() == StoreException.Kind.UNKNOWN;
            if (failure.kind() == StoreException.Kind.FULL && !nowDoubtful) {
                settle(open, Status.STORE_FULL);
                return CompletableFuture.completedFuture(null);
            }
            if (failure.kind() == StoreException.Kind.REFUSED && !nowDoubtful) {
                return CompletableFuture.failedFuture(failure);
            }
            long nextPauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
            return unlessLate(
                    open,
                    nowDoubtful,
                    () -> pause(pauseMs).thenCompose(paused -> write(view, shard, open, nowDoubtful, nextPauseMs)));
        }

        private CompletableFuture<Void> unlessLate(
                List<Integer> open, boolean doubtful, java.util.function.Supplier<CompletableFuture<Void>> next) {
            if (System.nanoTime() - deadlineNs < 0) {
                return next.get();
            }
            settle(open, doubtful ? Status.UNKNOWN : Status.NOT_STORED);
            return CompletableFuture.completedFuture(null);
        }

        private void settle(List<Integer> open, Status status) {
            open.forEach(i -> results[i] = new WriteResult(status, null));
        }

        private CompletableFuture<Void> pause(long pauseMs) {
            long drawnMs = ThreadLocalRandom.current().nextLong(pauseMs / 2, pauseMs + 1);
            return CompletableFuture.runAsync(
                    () -> {}, CompletableFuture.delayedExecutor(drawnMs, TimeUnit.MILLISECONDS, executor));
        }
    }

    private static Status statusOf(ScheduleOutcome.ItemStatus status) {
        return switch (status) {
            case CREATED -> Status.CREATED;
            case EXISTS -> Status.EXISTS;
            case CONFLICT, NEWER -> Status.CONFLICT;
            case REPLACED -> Status.REPLACED;
            case RUNNING -> Status.RUNNING;
            case ELSEWHERE -> throw new IllegalStateException("ELSEWHERE is followed, not answered");
        };
    }
}

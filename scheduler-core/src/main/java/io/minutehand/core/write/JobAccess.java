package io.minutehand.core.write;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.MoveOutcome;
import io.minutehand.core.topic.StoredTopic;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Finds single jobs wherever they live: in the home of their id, or in an earlier one ({@link StoredTopic}). A job that is in none of them does not
 * exist, if the shards know no newer settings than the caller; if they do, the settings are read again. All calls repeat until their deadline
 * ({@code nanoTime}) and fail with {@link io.minutehand.core.store.StoreException}. Thread-safe.
 */
public final class JobAccess {
    private final JobStore jobs;
    private final TopicRegistry topics;

    public JobAccess(JobStore jobs, TopicRegistry topics) {
        this.jobs = jobs;
        this.topics = topics;
    }

    /** Ends a pending job. */
    public CompletableFuture<MoveOutcome> cancel(StoredTopic topic, String id, long deadlineNs) {
        return visit(
                topic,
                id,
                deadlineNs,
                shard -> jobs.cancel(shard, id, topic.settings().retention(), deadlineNs),
                MoveOutcome::epoch,
                JobAccess::isThere);
    }

    /**
     * Moves a pending job to another time.
     *
     * @param dueMs the new due time, epoch ms, by the clock of a shard
     */
    public CompletableFuture<MoveOutcome> reschedule(
            StoredTopic topic, String id, ToLongFunction<ShardId> dueMs, long deadlineNs) {
        return visit(
                topic,
                id,
                deadlineNs,
                shard -> jobs.reschedule(shard, id, dueMs.applyAsLong(shard), deadlineNs),
                MoveOutcome::epoch,
                JobAccess::isThere);
    }

    /** Reads a job; nothing when there is none, or its tombstone has gone. */
    public CompletableFuture<Optional<JobStatus>> find(StoredTopic topic, String id, long deadlineNs) {
        return visit(
                        topic,
                        id,
                        deadlineNs,
                        shard -> jobs.look(shard, id, deadlineNs),
                        JobStore.Found::epoch,
                        found -> found.job() != null)
                .thenApply(found -> Optional.ofNullable(found.job()));
    }

    private static boolean isThere(MoveOutcome outcome) {
        return outcome.status() != MoveOutcome.Status.NOT_FOUND;
    }

    private <R> CompletableFuture<R> visit(
            StoredTopic topic,
            String id,
            long deadlineNs,
            Function<ShardId, CompletableFuture<R>> call,
            ToLongFunction<R> epoch,
            Function<R, Boolean> isThere) {
        return visit(topic, topic.homes(id), 0, deadlineNs, id, call, epoch, isThere);
    }

    private <R> CompletableFuture<R> visit(
            StoredTopic topic,
            List<ShardId> homes,
            int at,
            long deadlineNs,
            String id,
            Function<ShardId, CompletableFuture<R>> call,
            ToLongFunction<R> epoch,
            Function<R, Boolean> isThere) {
        return call.apply(homes.get(at)).thenCompose(outcome -> {
            if (isThere.apply(outcome)) {
                return CompletableFuture.completedFuture(outcome);
            }
            if (epoch.applyAsLong(outcome) != topic.epoch() && System.nanoTime() - deadlineNs < 0) {
                return topics.refresh(topic.topic(), deadlineNs)
                        .thenCompose(fresh -> visit(fresh, id, deadlineNs, call, epoch, isThere));
            }
            return at + 1 < homes.size()
                    ? visit(topic, homes, at + 1, deadlineNs, id, call, epoch, isThere)
                    : CompletableFuture.completedFuture(outcome);
        });
    }
}

package io.minutehand.core.write;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Durability;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.HedgedSchedules;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.ScheduleOutcome;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.WriteResult.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores a batch of jobs, whatever comes between: repeats the very same call after a lost reply or an outage until the deadline, sends it once more when its answer is
 * overdue, reads the topic's settings again when they are stale, follows a job that is to be replaced to its bucket, and looks into the earlier homes of an id before
 * it is stored in today's ({@link StoredTopic}). So each job gets one true answer, and
 * UNKNOWN only after the deadline, only if a reply was lost. Thread-safe.
 */
public final class JobWriter {
    private static final long FIRST_PAUSE_MS = 20;
    private static final long LONGEST_PAUSE_MS = 500;

    private final JobStore store;
    private final TopicRegistry topics;
    private final Executor executor;
    private final Durability durability;
    private final HedgedSchedules hedged;

    /** A writer whose jobs count as stored when the primary has them. */
    public JobWriter(JobStore store, TopicRegistry topics, Executor executor) {
        this(store, topics, executor, Durability.MEMORY);
    }

    public JobWriter(JobStore store, TopicRegistry topics, Executor executor, Durability durability) {
        this.durability = durability;
        this.store = store;
        this.topics = topics;
        this.executor = executor;
        this.hedged = new HedgedSchedules(executor);
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
        return batch.writeAll(topic, all, false, 0).thenApply(done -> List.of(batch.results));
    }

    /**
     * A visit to a shard.
     *
     * @param view the settings by which the shard is a home
     * @param earlier whether it is an earlier home
     * @param visit which home it is, from 0
     */
    private record Leg(StoredTopic view, ShardId shard, boolean earlier, int visit) {}

    /** One write call and what is known of each of its jobs. Different shards' replies touch different jobs only. */
    private final class Batch {
        private final String topic;
        private final List<NewJob> jobs;
        private final long deadlineNs;
        private final WriteResult[] results;

        /** How jobs that are replaced had ended in an earlier home. */
        private final @Nullable JobState[] endedBefore;

        Batch(String topic, List<NewJob> jobs, long deadlineNs) {
            this.topic = topic;
            this.jobs = new ArrayList<>(jobs);
            this.deadlineNs = deadlineNs;
            this.results = new WriteResult[jobs.size()];
            this.endedBefore = new JobState[jobs.size()];
        }

        /**
         * Sends jobs to their homes, each to one at a time.
         *
         * @param doubtful whether an earlier call may have stored some of these
         * @param visit which of their homes, from 0; jobs that have no more are left out
         */
        CompletableFuture<Void> writeAll(StoredTopic view, List<Integer> open, boolean doubtful, int visit) {
            Map<ShardId, List<Integer>> last = new LinkedHashMap<>();
            Map<ShardId, List<Integer>> earlier = new LinkedHashMap<>();
            for (int i : open) {
                List<ShardId> homes = view.homes(jobs.get(i).id());
                (visit == homes.size() - 1 ? last : earlier)
                        .computeIfAbsent(homes.get(visit), s -> new ArrayList<>())
                        .add(i);
            }
            List<CompletableFuture<Void>> writes = new ArrayList<>(last.size() + earlier.size());
            last.forEach((shard, part) ->
                    writes.add(write(new Leg(view, shard, false, visit), part, doubtful, FIRST_PAUSE_MS)));
            earlier.forEach((shard, part) ->
                    writes.add(write(new Leg(view, shard, true, visit), part, doubtful, FIRST_PAUSE_MS)));
            return writes.size() == 1
                    ? writes.get(0)
                    : CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new));
        }

        private CompletableFuture<Void> write(Leg leg, List<Integer> open, boolean doubtful, long pauseMs) {
            List<NewJob> part = new ArrayList<>(open.size());
            open.forEach(i -> part.add(jobs.get(i)));
            return schedule(leg, part)
                    .handle((answer, failure) -> failure == null
                            ? answered(leg, open, doubtful || answer.doubtful(), pauseMs, answer.outcome())
                            : failed(leg, open, doubtful, pauseMs, StoreException.of(failure)))
                    .thenCompose(next -> next);
        }

        private CompletableFuture<HedgedSchedules.Answer> schedule(Leg leg, List<NewJob> part) {
            Supplier<CompletableFuture<ScheduleOutcome>> call =
                    () -> store.schedule(leg.shard(), leg.view().epoch(), part, durability, leg.earlier());
            // Replicas may take long to answer, which says nothing of the reply. And without tombstones a twin that is
            // late by some
            // milliseconds would store a job again that has run, or was cancelled, meanwhile.
            boolean once = durability.replicas() > 0
                    || leg.view().settings().retention().isZero()
                    || part.stream().anyMatch(NewJob::replace);
            return once
                    ? call.get().thenApply(outcome -> new HedgedSchedules.Answer(outcome, false))
                    : hedged.send(call, deadlineNs);
        }

        private CompletableFuture<Void> answered(
                Leg leg, List<Integer> open, boolean doubtful, long pauseMs, ScheduleOutcome outcome) {
            switch (outcome.status()) {
                case OK -> {
                    List<Integer> elsewhere = new ArrayList<>();
                    List<Integer> absent = new ArrayList<>();
                    for (int k = 0; k < open.size(); k++) {
                        ScheduleOutcome.Item item = outcome.items().get(k);
                        int i = open.get(k);
                        if (item.status() == ScheduleOutcome.ItemStatus.ELSEWHERE) {
                            jobs.set(i, jobs.get(i).replacingFrom(item.minute()));
                            elsewhere.add(i);
                        } else if (item.status() == ScheduleOutcome.ItemStatus.ABSENT) {
                            endedBefore[i] = item.state() == null ? endedBefore[i] : item.state();
                            absent.add(i);
                        } else {
                            Status status = statusOf(item.status());
                            JobState state = item.state();
                            if (status == Status.CREATED && endedBefore[i] != null) {
                                status = Status.REPLACED;
                                state = endedBefore[i];
                            }
                            boolean missed = status.accepted() && outcome.replicas() < durability.replicas();
                            results[i] = new WriteResult(missed ? Status.STORED_NOT_REPLICATED : status, state);
                        }
                    }
                    CompletableFuture<Void> followed = elsewhere.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : unlessLate(elsewhere, doubtful, () -> write(leg, elsewhere, doubtful, pauseMs));
                    return absent.isEmpty()
                            ? followed
                            : CompletableFuture.allOf(
                                    followed,
                                    unlessLate(
                                            absent,
                                            doubtful,
                                            () -> writeAll(leg.view(), absent, doubtful, leg.visit() + 1)));
                }
                case STALE_SETTINGS -> {
                    return unlessLate(
                            open,
                            doubtful,
                            () -> pause(pauseMs)
                                    .thenCompose(paused -> topics.refresh(topic, deadlineNs))
                                    .handle((fresh, failure) -> failure == null
                                            ? writeAll(fresh, open, doubtful, 0)
                                            : failed(leg, open, doubtful, pauseMs, StoreException.of(failure)))
                                    .thenCompose(next -> next));
                }
                default -> {
                    // CLOCK_AHEAD: the reply has set the clock right, the labels are made anew.
                    return unlessLate(open, doubtful, () -> write(leg, open, doubtful, pauseMs));
                }
            }
        }

        private CompletableFuture<Void> failed(
                Leg leg, List<Integer> open, boolean doubtful, long pauseMs, StoreException failure) {
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
                    () -> pause(pauseMs).thenCompose(paused -> write(leg, open, nowDoubtful, nextPauseMs)));
        }

        private CompletableFuture<Void> unlessLate(
                List<Integer> open, boolean doubtful, Supplier<CompletableFuture<Void>> next) {
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
            case ELSEWHERE, ABSENT -> throw new IllegalStateException(status + " is followed, not answered");
        };
    }
}

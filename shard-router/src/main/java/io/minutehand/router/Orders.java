package io.minutehand.router;

import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.MoveOutcome;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.JobAccess;
import io.minutehand.core.write.JobForms.When;
import io.minutehand.router.Admission.Pass;
import io.minutehand.router.Arrival.Ticket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What callers want of single jobs: cancel, reschedule, find. Each is a call of its own, behind the jobs that its lane already has. Thread-safe. */
final class Orders {
    private final JobStore jobs;
    private final JobAccess access;
    private final Admission admission;
    private final ScheduleBatcher batcher;
    private final Duration deadline;

    Orders(JobStore jobs, JobAccess access, Admission admission, ScheduleBatcher batcher, Duration deadline) {
        this.jobs = jobs;
        this.access = access;
        this.admission = admission;
        this.batcher = batcher;
        this.deadline = deadline;
    }

    CompletableFuture<CancelResult> cancel(Route route, String id) {
        return order(
                route,
                "cancel",
                id,
                (topic, deadlineNs) -> access.cancel(topic, id, deadlineNs)
                        .thenApply(outcome -> new CancelResult(
                                id,
                                switch (outcome.status()) {
                                    case CANCELLED -> CancelResult.Status.CANCELLED;
                                    case RUNNING -> CancelResult.Status.RUNNING;
                                    case ENDED -> CancelResult.Status.ENDED;
                                    case NOT_FOUND -> CancelResult.Status.NOT_FOUND;
                                    case MOVED, NEWER -> throw refused("cancel", topic, id, outcome);
                                },
                                outcome.state())),
                new CancelResult(id, CancelResult.Status.UNKNOWN, null));
    }

    CompletableFuture<RescheduleResult> reschedule(Route route, String id, When when) {
        long calledNs = System.nanoTime();
        return order(
                route,
                "reschedule",
                id,
                (topic, deadlineNs) -> {
                    return access.reschedule(
                                    topic,
                                    id,
                                    shard -> when.dueMs(jobs.clock(shard).nowUs()
                                            - TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - calledNs)),
                                    deadlineNs)
                            .thenApply(outcome -> new RescheduleResult(
                                    id,
                                    switch (outcome.status()) {
                                        case MOVED -> RescheduleResult.Status.MOVED;
                                        case RUNNING -> RescheduleResult.Status.RUNNING;
                                        case ENDED -> RescheduleResult.Status.ENDED;
                                        case NOT_FOUND -> RescheduleResult.Status.NOT_FOUND;
                                        case CANCELLED, NEWER -> throw refused("reschedule", topic, id, outcome);
                                    },
                                    outcome.state()));
                },
                new RescheduleResult(id, RescheduleResult.Status.UNKNOWN, null));
    }

    CompletableFuture<Optional<JobStatus>> find(Route route, String id) {
        return order(route, "find", id, (topic, deadlineNs) -> access.find(topic, id, deadlineNs), null);
    }

    /** A call about one job. */
    private interface Order<R> {
        CompletableFuture<R> send(StoredTopic topic, long deadlineNs);
    }

    private <R> CompletableFuture<R> order(Route route, String name, String id, Order<R> order, @Nullable R unknown) {
        JobId.require(id);
        Pass pass;
        try {
            pass = admission.admit(name, (long) RouterSettings.OVERHEAD_BYTES + id.length());
        } catch (RouterBufferFullException full) {
            return CompletableFuture.failedFuture(full);
        }
        long deadlineNs = System.nanoTime() + deadline.toNanos();
        Function<StoredTopic, CompletableFuture<R>> call = topic -> order.send(topic, deadlineNs);
        WaitingOrder<R> waiting = new WaitingOrder<>(new Ticket(route, id, deadlineNs, pass), name, call, unknown);
        batcher.submit(waiting);
        return waiting.future();
    }

    private static IllegalStateException refused(String name, StoredTopic topic, String id, MoveOutcome outcome) {
        return new IllegalStateException(name + " of job " + id + " in topic=" + topic.topic() + " answered "
                + outcome.status()
                + ": its record was written by a newer version of Minutehand and is left alone; upgrade this process");
    }
}

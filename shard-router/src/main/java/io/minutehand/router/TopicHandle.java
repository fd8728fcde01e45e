package io.minutehand.router;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.write.JobForms;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A topic of a {@link JobRouter}, with the type of its payloads. Thread-safe, costs nothing to make or keep. The rules of threads, of blocking
 * and of bad input are those of the router.
 *
 * @param <T> the type of payloads; {@code byte[]} is stored as it is, anything else as JSON
 */
public final class TopicHandle<T> {
    private final JobRouter router;
    private final Route route;

    TopicHandle(JobRouter router, Route route) {
        this.router = router;
        this.route = route;
    }

    /** The topic's name. */
    public String name() {
        return route.topic();
    }

    /**
     * Schedules a job; see {@link JobRouter#schedule}.
     *
     * @throws IllegalArgumentException when the job is beyond a limit: nothing was sent
     * @throws IllegalStateException when the router is closed
     */
    public CompletableFuture<ScheduleResult> schedule(JobSpec<T> spec) {
        return router.schedule(route, spec);
    }

    /**
     * Schedules many jobs. All are checked first: if one is bad, none is sent. The collection is read twice and not copied, so a huge one
     * may be made while it is read; the caller is blocked while the buffer is full, or thousands of items have no answer yet. If there is no room
     * in time (or at once, if the router is set to fail), the job and all that follow it are NOT_STORED. Delays count from this call, deadlines from when a job found room.
     *
     * @return one result an item, in order; fails when Redis refuses for good (permissions, say), once all items have their answer
     * @throws IllegalArgumentException that names the item when one is beyond a limit: nothing was sent
     * @throws IllegalStateException when the router is closed
     */
    public CompletableFuture<BatchResult> scheduleAll(Collection<JobSpec<T>> specs) {
        return router.scheduleAll(route, specs);
    }

    /**
     * Ends a job that still waits. It sees every job that was scheduled through this router before.
     *
     * @return the one true outcome, also when the call is repeated; fails when Redis refuses for good
     * @throws IllegalArgumentException when the id is none
     * @throws IllegalStateException when the router is closed
     */
    public CompletableFuture<CancelResult> cancel(String id) {
        return router.orders().cancel(route, id);
    }

    /**
     * Moves a job that still waits to another time (rounded up to milliseconds); one of the past means now.
     *
     * @return the one true outcome, also when the call is repeated; fails when Redis refuses for good
     * @throws IllegalArgumentException when the id is none, or the time is beyond the limit
     * @throws IllegalStateException when the router is closed
     */
    public CompletableFuture<RescheduleResult> reschedule(String id, Instant dueAt) {
        return router.orders().reschedule(route, id, JobForms.When.at(dueAt));
    }

    /** As {@link #reschedule(String, Instant)}, to this long after the call. */
    public CompletableFuture<RescheduleResult> reschedule(String id, Duration delay) {
        return router.orders().reschedule(route, id, JobForms.When.after(delay));
    }

    /**
     * Reads a job.
     *
     * @return nothing when there is no such job, or it ended longer ago than the topic's retention; fails with a
     *     {@link java.util.concurrent.TimeoutException} when no reply comes before the deadline
     * @throws IllegalArgumentException when the id is none
     * @throws IllegalStateException when the router is closed
     */
    public CompletableFuture<Optional<JobStatus>> find(String id) {
        return router.orders().find(route, id);
    }

    @Override
    public String toString() {
        return "TopicHandle[" + route.topic() + "]";
    }
}

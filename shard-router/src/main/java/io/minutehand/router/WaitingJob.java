package io.minutehand.router;

import io.minutehand.core.store.NewJob;
import io.minutehand.core.write.JobForms.Draft;
import org.jspecify.annotations.Nullable;

/** A job between its schedule call and its answer. The caller's thread fills it and hands it to the loop. */
final class WaitingJob implements Arrival {
    /** Takes answers, on a callback thread. */
    interface Sink {
        void answered(int index, ScheduleResult result);

        void failed(int index, Throwable failure);
    }

    private final Ticket ticket;
    private final long calledNs;
    private final Sink sink;
    private final int index;
    /** Null once the job is made of it. */
    private @Nullable Draft draft;
    /** Null until the server's clock is known. */
    private @Nullable NewJob job;

    private @Nullable ScheduleResult result;
    private @Nullable Throwable failure;

    /**
     * A job that the clock has not been put to yet.
     *
     * @param calledNs nanoTime of the caller's call, from which delays count
     * @param index its place in the sink
     */
    WaitingJob(Ticket ticket, Draft draft, long calledNs, Sink sink, int index) {
        this.ticket = ticket;
        this.calledNs = calledNs;
        this.sink = sink;
        this.index = index;
        this.draft = draft;
    }

    @Override
    public Ticket ticket() {
        return ticket;
    }

    /** Makes the job by the server's time now, unless it is made; its due time and digest stand from here on. */
    void prepare(long serverUs) {
        Draft open = draft;
        if (open != null) {
            job = open.toJob(serverUs - (System.nanoTime() - calledNs) / 1000);
            draft = null;
        }
    }

    /** Takes the reference to the caller's bytes away, which the caller may change once it has its thread back. */
    void letGoOfPayload() {
        Draft open = draft;
        if (open != null) {
            draft = open.withoutPayload();
        }
    }

    /** The prepared job. */
    NewJob job() {
        if (job == null) {
            throw new IllegalStateException("job " + id() + " is not prepared");
        }
        return job;
    }

    /** Sets the answer; false when there is one. */
    boolean settle(ScheduleResult.Status status, io.minutehand.core.job.@Nullable JobState state) {
        if (settled()) {
            return false;
        }
        Draft open = draft;
        // Without the server's clock, this machine's has to do.
        long dueMs = open == null ? job().dueMs() : open.when().dueMs(System.currentTimeMillis() * 1000);
        result = new ScheduleResult(id(), status, state, dueMs);
        return true;
    }

    /** Sets a failure as the answer; false when there is an answer. */
    boolean fail(Throwable cause) {
        if (settled()) {
            return false;
        }
        failure = cause;
        return true;
    }

    private boolean settled() {
        return result != null || failure != null;
    }

    @Override
    public void deliver() {
        if (result != null) {
            sink.answered(index, result);
        } else if (failure != null) {
            sink.failed(index, failure);
        }
    }
}

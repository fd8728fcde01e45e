package io.minutehand.router;

import io.minutehand.router.Admission.Pass;

/**
 * A call between its caller and its answer: a job to store, or something to ask or do about one. The loop settles it once; then a callback
 * thread runs it, which delivers the answer and gives back what it held.
 */
sealed interface Arrival extends Runnable permits WaitingJob, WaitingOrder {
    /**
     * What each call carries.
     *
     * @param route where it goes
     * @param id the id that decides on the shard
     * @param deadlineNs {@code nanoTime} after which it is not sent any more
     * @param pass what it holds of the router until it has its answer
     */
    record Ticket(Route route, String id, long deadlineNs, Pass pass) {}

    Ticket ticket();

    /** Gives the caller the answer; on a callback thread, once. */
    void deliver();

    default String id() {
        return ticket().id();
    }

    default long deadlineNs() {
        return ticket().deadlineNs();
    }

    default Route route() {
        return ticket().route();
    }

    @Override
    default void run() {
        try {
            deliver();
        } finally {
            ticket().pass().giveBack();
        }
    }
}

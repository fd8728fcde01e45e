package io.minutehand.router;

/** A call on its way to its lane: a job to store, or something to ask or do about one. */
sealed interface Arrival permits WaitingJob, WaitingOrder {
    /** The id that decides on the shard. */
    String id();

    /** {@code nanoTime} after which it is not sent any more. */
    long deadlineNs();

    /** Where it goes. */
    Route route();
}

package io.minutehand.router.outbox;

/** What became of a committed job when it was to be scheduled at once. Whatever it says: the job is not lost. */
public enum Delivery {
    /** It is in Redis, and its row is gone. */
    SCHEDULED,
    /** Redis or the database is away, full or slow, or there is no room in memory: its row waits for a relay. */
    POSTPONED,
    /** It can never be scheduled as it is, because another request has its id, say: its row stays, with the reason. */
    SET_ASIDE,
    /** There is no such row to take: a relay was faster, or the transaction has not committed, and nothing was scheduled. */
    NOT_FOUND
}

package io.minutehand.router.outbox;

import java.util.concurrent.CompletableFuture;

/** A job in the table of an outbox, as part of a transaction that is still open. Thread-safe. */
public final class OutboxJob {
    private final DirectLane lane;
    private final String rowId;
    private final String topic;
    private final String id;

    OutboxJob(DirectLane lane, String rowId, String topic, String id) {
        this.lane = lane;
        this.rowId = rowId;
        this.topic = topic;
        this.id = id;
    }

    /** Its topic. */
    public String topic() {
        return topic;
    }

    /** Its id: the caller's, or the one that was made. */
    public String id() {
        return id;
    }

    /**
     * Says that the transaction has committed: the job is scheduled now, on a thread of the outbox. To be called after {@code commit()}; without
     * the call, after a crash say, a relay does it. Called too early, or after a rollback, it schedules nothing: the row is read from the table
     * on another connection, which sees only what is committed. Does not block.
     *
     * @return what became of it; never fails. It is completed on a thread of the common pool
     */
    public CompletableFuture<Delivery> committed() {
        return lane.offer(rowId);
    }

    @Override
    public String toString() {
        return "OutboxJob[topic=" + topic + " id=" + id + "]";
    }
}

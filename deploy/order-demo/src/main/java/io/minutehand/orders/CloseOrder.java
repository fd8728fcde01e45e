package io.minutehand.orders;

import io.minutehand.core.job.JobSpec;
import java.time.Instant;

/**
 * The payload of the job that closes an order unless it was paid.
 *
 * @param orderId the order
 */
record CloseOrder(long orderId) {
    static final String TOPIC = "order.close.timeout";

    /** The job of an order: service and reconciler make the same, so that whoever comes second changes nothing. */
    static JobSpec<CloseOrder> jobOf(long orderId, Instant dueAt) {
        return JobSpec.of(new CloseOrder(orderId)).id(jobId(orderId)).at(dueAt);
    }

    static String jobId(long orderId) {
        return "close_order:" + orderId;
    }
}

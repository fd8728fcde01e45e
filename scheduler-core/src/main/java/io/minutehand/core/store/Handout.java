package io.minutehand.core.store;

import java.util.List;

/**
 * What {@code pop} or {@code recover} answered.
 *
 * @param status OK, or why nothing happened
 * @param next pop: due ms of the first job left, -1 = none; recover: 1 when another call may find more
 * @param skipped records of a newer version that were left alone
 * @param jobs what is in flight for the caller now
 */
public record Handout(Status status, long next, int skipped, List<HandedJob> jobs) {
    /** Whether jobs could be handed out. */
    public enum Status {
        OK,
        /** The caller does not hold the lease. */
        FENCED,
        /** A later call of the node was answered already. */
        OLD
    }
}

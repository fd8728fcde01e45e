package io.minutehand.worker;

import io.minutehand.core.job.Limits;
import java.time.Duration;
import java.time.Instant;

/**
 * Thrown by a handler: not a failure, run this job again at another time. No attempt is counted, so a handler that always throws it keeps its
 * job for ever.
 */
public final class Again extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int NS_PER_MS = 1_000_000;

    private final long atMs;
    private final long delayMs;

    private Again(String message, long atMs, long delayMs) {
        super(message, null, false, false);
        this.atMs = atMs;
        this.delayMs = delayMs;
    }

    /**
     * Again at this instant (rounded up to milliseconds), by the clock of Redis; one of the past means now.
     *
     * @throws IllegalArgumentException when it lies beyond {@link Limits#HORIZON} from now
     */
    public static Again at(Instant instant) {
        Instant last = Instant.now().plus(Limits.HORIZON);
        if (instant.isAfter(last)) {
            throw new IllegalArgumentException("again at " + instant + " is later than " + last + ", allowed are "
                    + Limits.HORIZON + " from now at most");
        }
        boolean past = instant.isBefore(Instant.EPOCH);
        long ms = past ? 0 : instant.plusNanos(NS_PER_MS - 1).toEpochMilli();
        return new Again("again at " + instant, ms, 0);
    }

    /**
     * Again this long (rounded up to milliseconds) after the handler ended; a negative delay means now.
     *
     * @throws IllegalArgumentException when it is longer than {@link Limits#HORIZON}
     */
    public static Again after(Duration delay) {
        if (delay.compareTo(Limits.HORIZON) > 0) {
            throw new IllegalArgumentException(
                    "again after " + delay + ", allowed is a delay of " + Limits.HORIZON + " at most");
        }
        long ms = delay.isNegative() ? 0 : delay.plusNanos(NS_PER_MS - 1).toMillis();
        return new Again("again after " + delay, 0, ms);
    }

    /** When the job is due again, never before now: lateness counts from there. */
    long dueMs(long nowMs) {
        return Math.max(atMs, nowMs + delayMs);
    }
}

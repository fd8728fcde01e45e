package io.minutehand.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler: not a failure, run this job again at another time. No attempt is counted, so a handler that always throws it keeps its
 * job for ever.
 */
public final class Again extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable Instant at;
    private final transient @Nullable Duration delay;

    private Again(@Nullable Instant at, @Nullable Duration delay) {
        super(at != null ? "again at " + at : "again after " + delay, null, false, false);
        this.at = at;
        this.delay = delay;
    }

    /** Again at this instant, by the clock of Redis; one of the past means now. */
    public static Again at(Instant instant) {
        return new Again(Objects.requireNonNull(instant, "instant"), null);
    }

    /** Again this long after the handler ended. */
    public static Again after(Duration delay) {
        return new Again(null, Objects.requireNonNull(delay, "delay"));
    }

    long dueMs(long nowMs) {
        if (at != null) {
            return at.toEpochMilli();
        }
        return nowMs + (delay == null ? 0 : Math.max(0, delay.toMillis()));
    }
}

package io.minutehand.core.bucket;

/** Due time to bucket. Stateless. */
public final class Minutes {
    /** Milliseconds of a minute. */
    public static final long MS = 60_000;

    private Minutes() {}

    /** The minute (since 1970) in which this instant, in epoch ms, lies. */
    public static long of(long epochMs) {
        return Math.floorDiv(epochMs, MS);
    }

    /**
     * The label of the bucket of a job: the minute of its due time, or the current one if that is past. An earlier label would be
     * harmless (the bucket is drained as soon as somebody sees it), a later one would delay the job: so {@code nowMs} must not be
     * ahead of Redis's clock.
     */
    public static long label(long dueMs, long nowMs) {
        return of(Math.max(dueMs, nowMs));
    }

    /** First millisecond (epoch) of a minute. */
    public static long startMs(long minute) {
        return minute * MS;
    }
}

package io.minutehand.core.job;

import java.time.Duration;

/**
 * When a job counts as stored: what a crash may still take after the producer was told.
 *
 * <p>{@link #MEMORY}: Redis has it. With AOF everysec a crash of the process loses nothing and a power cut about a second; a fail-over loses what
 * the replica had not received yet.
 *
 * <p>{@link #replicas}: that many replicas have it in memory, too (Redis {@code WAIT}). A fail-over to one of them loses nothing. It is no
 * consensus: with more replicas than are waited for, another one may become the primary.
 *
 * @param replicas how many replicas must have it, 0 to 16
 * @param within how long to wait for them, 1 ms to 30 s; longer replication answers "stored, not replicated"
 */
public record Durability(int replicas, Duration within) {
    private static final int MOST_REPLICAS = 16;
    private static final Duration LONGEST = Duration.ofSeconds(30);

    /** Stored in the primary. */
    public static final Durability MEMORY = new Durability(0, Duration.ofSeconds(1));

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException that names the value out of range
     */
    public Durability {
        if (replicas < 0 || replicas > MOST_REPLICAS) {
            throw new IllegalArgumentException("replicas=" + replicas + ", allowed are 0 to " + MOST_REPLICAS);
        }
        if (within.toMillis() < 1 || within.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("within=" + within + ", allowed are 1 ms to " + LONGEST);
        }
    }

    /** Stored in the primary and in so many replicas, 1 to 16, for which a call waits at most {@code within}. */
    public static Durability replicas(int count, Duration within) {
        if (count < 1) {
            throw new IllegalArgumentException("replicas=" + count + ", allowed are 1 to " + MOST_REPLICAS);
        }
        return new Durability(count, within);
    }
}

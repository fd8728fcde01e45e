package io.minutehand.core.job;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * When a failed job runs again, and after how many attempts it becomes a dead letter. Delays are cut to milliseconds. Immutable.
 *
 * @param kind the shape of the delays
 * @param retries attempts after the first, 0 to 1,000
 * @param first the first delay (unit of the quadratic policy), 1 ms or more unless there are no retries
 * @param max the longest delay, at most {@link Limits#HORIZON}
 * @param jitter 0 to 1: each delay is drawn evenly from delay * (1 - jitter) to delay
 */
public record RetryPolicy(Kind kind, int retries, Duration first, Duration max, double jitter) {
    /** The shape of the delays before retry n = 1, 2, ... */
    public enum Kind {
        /** first * n * n. */
        QUADRATIC,
        /** first * 2^(n-1). */
        EXPONENTIAL,
        /** first. */
        FIXED,
        /** No retry. */
        NONE
    }

    private static final int MAX_RETRIES = 1000;

    /**
     * Checks the ranges above.
     *
     * @throws IllegalArgumentException that names the value out of range
     */
    public RetryPolicy {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(max, "max");
        if (retries < 0 || retries > MAX_RETRIES) {
            throw new IllegalArgumentException("retries=" + retries + ", allowed are 0 to " + MAX_RETRIES);
        }
        requireRange("longest delay", max);
        requireRange("first delay", first);
        if (retries > 0 && (first.compareTo(Duration.ofMillis(1)) < 0 || max.compareTo(first) < 0)) {
            throw new IllegalArgumentException(
                    "first delay " + first + " must be 1 ms or more and not longer than the longest, " + max);
        }
        if (!(jitter >= 0 && jitter <= 1)) {
            throw new IllegalArgumentException("jitter=" + jitter + ", allowed are 0 to 1");
        }
        first = Duration.ofMillis(first.toMillis());
        max = Duration.ofMillis(max.toMillis());
    }

    private static void requireRange(String name, Duration delay) {
        if (delay.isNegative() || delay.compareTo(Limits.HORIZON) > 0) {
            throw new IllegalArgumentException(
                    name + " " + delay + " is not between 0 and the horizon of jobs, " + Limits.HORIZON);
        }
    }

    /** n * n seconds, 5 retries: the default. */
    public static RetryPolicy quadratic() {
        return quadratic(5);
    }

    /** n * n seconds, at most an hour. */
    public static RetryPolicy quadratic(int retries) {
        return new RetryPolicy(Kind.QUADRATIC, retries, Duration.ofSeconds(1), Duration.ofHours(1), 0);
    }

    /** first, 2 * first, 4 * first, ... at most max. */
    public static RetryPolicy exponential(Duration first, Duration max, int retries) {
        return new RetryPolicy(Kind.EXPONENTIAL, retries, first, max, 0);
    }

    /** The same delay each time. */
    public static RetryPolicy fixed(Duration delay, int retries) {
        return new RetryPolicy(Kind.FIXED, retries, delay, delay, 0);
    }

    /** One attempt only. */
    public static RetryPolicy none() {
        return new RetryPolicy(Kind.NONE, 0, Duration.ZERO, Duration.ZERO, 0);
    }

    /** The same with delays spread downwards by this share, 0 to 1. */
    public RetryPolicy withJitter(double newJitter) {
        return new RetryPolicy(kind, retries, first, max, newJitter);
    }

    /** Runs of a job in all, the first included. */
    public int maxAttempts() {
        return retries + 1;
    }

    /**
     * The delay after a failed attempt, or nothing when it was the last.
     *
     * @param attempt the number of the attempt that failed, from 1
     * @param random 0 to 1, used for jitter only
     */
    public Optional<Duration> delayAfter(int attempt, double random) {
        if (attempt > retries) {
            return Optional.empty();
        }
        double factor = switch (kind) {
            case QUADRATIC -> (double) attempt * attempt;
            case EXPONENTIAL -> Math.pow(2, attempt - 1.0);
            case FIXED, NONE -> 1;
        };
        double ms = Math.min(first.toMillis() * factor, max.toMillis()) * (1 - jitter * random);
        return Optional.of(Duration.ofMillis(Math.max(1, Math.round(ms))));
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT) + "(first=" + first + " max=" + max + " retries=" + retries
                + " jitter=" + jitter + ")";
    }
}

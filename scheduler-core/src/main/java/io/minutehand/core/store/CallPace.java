package io.minutehand.core.store;

import java.util.concurrent.TimeUnit;

/**
 * How long the next call on a shard waits for company. Most of what a call costs does not depend on how many jobs it carries, so when jobs flow
 * fast a short pause between calls lets several share one; when they flow slowly, nothing waits. Not thread-safe.
 *
 * <p>The pause grows with the square of the rate, 1.5 ms at a job a millisecond: below some hundred jobs a second it is shorter than the time
 * between two jobs and delays none.
 */
public final class CallPace {
    /** Over which time the rate is taken, ns; an exponentially weighted mean. */
    private static final double MEMORY_NS = 50e6;

    private static final double MS_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final double PAUSE_NS = 1.5 * MS_NS;

    private final long longestNs;
    private double jobsPerMs;
    private long lastNs;

    /**
     * @param longestNs the longest pause, ns
     * @param nowNs {@code nanoTime} of the beginning
     */
    public CallPace(long longestNs, long nowNs) {
        this.longestNs = longestNs;
        this.lastNs = nowNs;
    }

    /** A call was sent that takes so many jobs. */
    public void sent(int jobs, long nowNs) {
        double elapsedNs = Math.max(1, nowNs - lastNs);
        double weight = 1 - Math.exp(-elapsedNs / MEMORY_NS);
        jobsPerMs += weight * (jobs * MS_NS / elapsedNs - jobsPerMs);
        lastNs = nowNs;
    }

    /** {@code nanoTime} before which the next call should not be sent for the sake of a few jobs. */
    public long nextNs() {
        return lastNs + (long) Math.min(longestNs, PAUSE_NS * jobsPerMs * jobsPerMs);
    }
}

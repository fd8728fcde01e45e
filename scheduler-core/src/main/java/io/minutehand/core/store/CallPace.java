package io.minutehand.core.store;

import java.util.concurrent.TimeUnit;

/**
 * How long the next call on a shard waits for company. Most of what a call costs does not depend on how many jobs it carries, so when jobs flow
 * fast a short pause between calls lets several share one; when they flow slowly, nothing waits. Not thread-safe.
 *
 * <p>The pause grows with the square of the rate: below some hundred jobs a second it is shorter than the time between two jobs and delays none. Longer pauses end on whole milliseconds of {@code nanoTime}, so that the shards of a process call together
 * and Redis wakes up once for several calls.
 */
public final class CallPace {
    /** Over which time the rate is taken, ns; an exponentially weighted mean. */
    private static final double MEMORY_NS = 50e6;

    private static final long MS_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** From which pause on the end is put off to a whole millisecond. */
    private static final long ALIGNED_NS = TimeUnit.MICROSECONDS.toNanos(250);

    private final long pauseNs;
    private final long longestNs;
    private double jobsPerMs;
    private long lastNs;

    /**
     * A pace that begins without a pause.
     *
     * @param pauseNs the pause at a job a millisecond, ns
     * @param longestNs the longest pause before it is aligned, ns
     * @param nowNs {@code nanoTime} of the beginning
     */
    public CallPace(long pauseNs, long longestNs, long nowNs) {
        this.pauseNs = pauseNs;
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

    /** {@code nanoTime} before which the next call should not be sent for the sake of a few jobs; up to 1 ms after the longest pause. */
    public long nextNs() {
        long waitNs = (long) Math.min(longestNs, pauseNs * jobsPerMs * jobsPerMs);
        long nextNs = lastNs + waitNs;
        return waitNs < ALIGNED_NS ? nextNs : nextNs + Math.floorMod(-nextNs, MS_NS);
    }
}

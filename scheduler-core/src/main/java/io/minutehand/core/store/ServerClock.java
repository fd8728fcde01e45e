package io.minutehand.core.store;

/**
 * An estimate of a Redis server's clock, from the times that its replies carry.
 *
 * <p>As NTP does (RFC 5905, section 8): a reply that was asked for at t0 and came at t1 was made at (t0 + t1) / 2, give or take half the round
 * trip. The sample with the smallest error stays, its error growing with age by the drift that two quartz clocks may have; a sample that
 * contradicts it (the server's clock was stepped) replaces it at once. Local times are {@code nanoTime}, so a step of the local clock has
 * no effect. Thread-safe.
 */
public final class ServerClock {
    /** Two clocks part by at most this share: 100 ppm. */
    private static final long DRIFT_DIVISOR = 10_000;

    private static final long US_NS = 1000;

    private record Estimate(long offsetNs, long errorNs, long atNs) {
        long errorAt(long nowNs) {
            return errorNs + Math.max(0, nowNs - atNs) / DRIFT_DIVISOR;
        }
    }

    private volatile Estimate estimate = new Estimate(
            System.currentTimeMillis() * 1_000_000 - System.nanoTime(), Long.MAX_VALUE / 4, System.nanoTime());

    ServerClock() {}

    /**
     * Takes a reply's time into account.
     *
     * @param sentNs nanoTime before the call was sent
     * @param receivedNs nanoTime when its reply arrived
     * @param serverUs the server's time in it, epoch microseconds
     */
    void sample(long sentNs, long receivedNs, long serverUs) {
        long middleNs = sentNs + (receivedNs - sentNs) / 2;
        Estimate fresh = new Estimate(serverUs * US_NS - middleNs, (receivedNs - sentNs) / 2 + US_NS, receivedNs);
        Estimate current = estimate;
        long currentError = current.errorAt(receivedNs);
        boolean better = fresh.errorNs <= currentError;
        boolean stepped = Math.abs(fresh.offsetNs - current.offsetNs) > fresh.errorNs + currentError;
        if (better || stepped) {
            estimate = fresh;
        }
    }

    /** Whether a reply was seen: before that, the estimate is this machine's clock. */
    public boolean sampled() {
        return estimate.errorNs < Long.MAX_VALUE / 4;
    }

    /** The server's time, epoch microseconds. */
    public long nowUs() {
        return (System.nanoTime() + estimate.offsetNs) / US_NS;
    }

    /** The server's time, epoch milliseconds, cut. */
    public long nowMs() {
        return nowUs() / 1000;
    }

    /** A time, epoch milliseconds, that the server has passed for sure: the estimate less its error. */
    public long passedMs() {
        long nowNs = System.nanoTime();
        Estimate current = estimate;
        long errorNs = current.errorNs == Long.MAX_VALUE / 4 ? 0 : current.errorAt(nowNs);
        return (nowNs + current.offsetNs - errorNs) / 1_000_000;
    }

    /** When, in local {@code nanoTime}, the server reaches this time. */
    public long nanoTimeAt(long serverMs) {
        return serverMs * 1_000_000 - estimate.offsetNs;
    }

    /** How wrong the estimate may be, microseconds. */
    public long errorUs() {
        return estimate.errorAt(System.nanoTime()) / US_NS;
    }
}

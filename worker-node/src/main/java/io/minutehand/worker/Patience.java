package io.minutehand.worker;

import java.util.concurrent.TimeUnit;

/**
 * How long an answer of Redis may take before it is worth asking again: the smoothed time of the last answers and four times their smoothed
 * deviation, as TCP decides when to send again (RFC 6298, section 2). Not thread-safe.
 */
final class Patience {
    /** Below this a late answer tells of a busy machine rather than of a lost one. */
    private static final long LEAST_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private boolean known;
    private long smoothedNs;
    private long deviationNs;

    /** Takes in how long an answer took, ns. */
    void answered(long tookNs) {
        if (!known) {
            known = true;
            smoothedNs = tookNs;
            deviationNs = tookNs / 2;
            return;
        }
        deviationNs += (Math.abs(tookNs - smoothedNs) - deviationNs) / 4;
        smoothedNs += (tookNs - smoothedNs) / 8;
    }

    /** Returns the time after which to ask again, ns, at least 100 ms. */
    long ns() {
        return Math.max(LEAST_NS, smoothedNs + 4 * deviationNs);
    }
}

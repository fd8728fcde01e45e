package io.minutehand.worker;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How long an answer of Redis may take before it is worth asking again: twice what nine of ten of the last answers took. A hedged request is
 * worth its cost when it is sent after a high percentile of the usual time (Dean and Barroso, The Tail at Scale, 2013). A mean with its deviation, as
 * TCP takes it, was tried: where replies are lost now and then, the answers that waited for a new connection raised it threefold. Not
 * thread-safe.
 */
final class Patience {
    /** Below this a late answer tells of a busy machine rather than of a lost one. */
    private static final long LEAST_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int ANSWERS = 64;
    private static final double USUAL = 0.9;

    private final long[] tookNs = new long[ANSWERS];
    private int next;
    private int known;
    private boolean stale;
    private long patienceNs = LEAST_NS;

    /** Takes in how long an answer took, ns. */
    void answered(long ns) {
        tookNs[next] = ns;
        next = (next + 1) % ANSWERS;
        known = Math.min(known + 1, ANSWERS);
        stale = true;
    }

    /** Returns the time after which to ask again, ns, at least 100 ms. */
    long ns() {
        if (stale) {
            long[] sorted = Arrays.copyOf(tookNs, known);
            Arrays.sort(sorted);
            patienceNs = Math.max(LEAST_NS, 2 * sorted[(int) Math.ceil(USUAL * known) - 1]);
            stale = false;
        }
        return patienceNs;
    }
}

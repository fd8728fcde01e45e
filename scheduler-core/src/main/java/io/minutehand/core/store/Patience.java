package io.minutehand.core.store;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How long an answer of Redis may take before it is worth asking again: twice what nine of ten of the last answers took. A hedged request is
 * worth its cost when it is sent after a high percentile of the usual time (Dean and Barroso, The Tail at Scale, 2013). A mean with its deviation, as
 * TCP takes it, was tried: where replies are lost now and then, the answers that waited for a new connection raised it threefold.
 * Thread-safe.
 */
public final class Patience {
    /** How many twins of a call are worth sending: more would only load a Redis that is slow. */
    public static final int TWINS = 2;

    /** When a twin is due, in times of what an answer may take. */
    private static final int[] TIMES = {1, 3};

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
    public synchronized void answered(long ns) {
        tookNs[next] = ns;
        next = (next + 1) % ANSWERS;
        known = Math.min(known + 1, ANSWERS);
        stale = true;
    }

    /**
     * Returns how long after a call was first sent it is to be sent once more if no answer has come, ns, at least 100 ms.
     *
     * @param twin 1 to {@link #TWINS}
     */
    public synchronized long twinNs(int twin) {
        if (stale) {
            long[] sorted = Arrays.copyOf(tookNs, known);
            Arrays.sort(sorted);
            patienceNs = Math.max(LEAST_NS, 2 * sorted[(int) Math.ceil(USUAL * known) - 1]);
            stale = false;
        }
        return TIMES[twin - 1] * patienceNs;
    }
}

package io.minutehand.router.http;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A token bucket, kept as the time at which it will be full again (generic cell rate algorithm, ITU-T I.371). It may be overdrawn by one taking,
 * however large, and admits nothing until that is paid back: so a batch larger than the bucket gets through, and the rate holds. Thread-safe,
 * without locks.
 */
final class RateLimit {
    private final long everyNs;
    private final long burstNs;
    /** {@code nanoTime} at which the bucket is full; in the past: it is. */
    private final AtomicLong fullNs;

    /**
     * A full bucket.
     *
     * @param perSecond tokens that come back a second, 1 to 1,000,000
     * @param burst tokens that it holds, 1 or more
     */
    RateLimit(int perSecond, int burst) {
        this(perSecond, burst, System.nanoTime());
    }

    RateLimit(int perSecond, int burst, long nowNs) {
        this.everyNs = TimeUnit.SECONDS.toNanos(1) / perSecond;
        this.burstNs = burst * everyNs;
        this.fullNs = new AtomicLong(nowNs);
    }

    /** The same at another rate: tokens that are taken stay so, as far as the other bucket holds as many. Itself when nothing changes. */
    RateLimit changed(int perSecond, int burst, long nowNs) {
        RateLimit other = new RateLimit(perSecond, burst, nowNs);
        if (other.everyNs == everyNs && other.burstNs == burstNs) {
            return this;
        }
        long taken = Math.max(0, fullNs.get() - nowNs) / everyNs;
        other.fullNs.set(nowNs + Math.min(taken, burst) * other.everyNs);
        return other;
    }

    /** Takes tokens; returns 0, or for how long (ns) there will be none, and nothing was taken. */
    long take(int tokens, long nowNs) {
        while (true) {
            long before = fullNs.get();
            long full = before - nowNs > 0 ? before : nowNs;
            long waitNs = full - nowNs - burstNs + everyNs;
            if (waitNs > 0) {
                return waitNs;
            }
            if (fullNs.compareAndSet(before, full + tokens * everyNs)) {
                return 0;
            }
        }
    }
}

package io.minutehand.loadtest.lab;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/**
 * What is left of this process's heap after its whole has been collected, which it does by itself every so often: only
 * so are two moments alike, for between collections the heap is full of what nobody needs. For one thread.
 */
final class HeapAfterCollection {
    private final long everyNs;
    private long lastNs;
    private long liveKb;

    /** @param everyMs 0 = never */
    HeapAfterCollection(long everyMs) {
        this.everyNs = TimeUnit.MILLISECONDS.toNanos(everyMs);
        this.lastNs = System.nanoTime() - everyNs;
    }

    /** Collects if it is time. */
    void look() {
        if (everyNs > 0 && System.nanoTime() - lastNs >= everyNs) {
            lastNs = System.nanoTime();
            System.gc();
            liveKb = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1_024;
        }
    }

    /** In use right after the last collection, KiB; 0 before the first. */
    long liveKb() {
        return liveKb;
    }
}

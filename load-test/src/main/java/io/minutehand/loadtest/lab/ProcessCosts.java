package io.minutehand.loadtest.lab;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.HashMap;
import java.util.Map;

/** What this process costs, for its status line. */
final class ProcessCosts {
    private ProcessCosts() {}

    /** CPU time, time in the garbage collector, heap in use after the last collection, threads. */
    static Map<String, Long> now() {
        Map<String, Long> counts = new HashMap<>();
        if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
            counts.put("cpu_us", system.getProcessCpuTime() / 1_000);
        }
        long collectMs = 0;
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collectMs += Math.max(0, collector.getCollectionTime());
            collections += Math.max(0, collector.getCollectionCount());
        }
        counts.put("gc_ms", collectMs);
        counts.put("gcs", collections);
        long afterBytes = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage after = pool.getCollectionUsage();
            afterBytes += after == null ? 0 : after.getUsed();
        }
        counts.put("heap_after_gc_kb", afterBytes / 1_024);
        counts.put("threads", (long) ManagementFactory.getThreadMXBean().getThreadCount());
        return counts;
    }
}

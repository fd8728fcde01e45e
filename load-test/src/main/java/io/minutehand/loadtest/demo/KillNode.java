package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.report.RunFacts.Kill;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Kills a worker at a moment at which that hurts: when it holds buckets and has jobs.
 *
 * <p>The worker is first halted (SIGSTOP), then Redis is asked what it holds, then it is killed (SIGKILL) or, if it holds
 * too little, let go on. So what it held when it died is known exactly, and not a moment old. The kill is what a crash
 * is: nothing in the process gets to run after it.
 */
final class KillNode {
    /** How long a right moment is waited for. */
    static final long PATIENCE_NS = 10_000_000_000L;

    /** After a halt, until what the worker had sent before is in Redis, ms. */
    private static final long SETTLE_MS = 5;

    private final Fleet fleet;
    private final RedisProbe probe;
    private final RedisClock clock;

    KillNode(Fleet fleet, RedisProbe probe, RedisClock clock) {
        this.fleet = fleet;
        this.probe = probe;
        this.clock = clock;
    }

    /**
     * Tries once with each worker, the one with the most buckets first.
     *
     * @return what was done, or null if no worker had both buckets and jobs
     */
    @Nullable
    Kill tryOnce() throws IOException, InterruptedException {
        List<WorkerProcess> candidates = fleet.ready().stream()
                .sorted(Comparator.comparingInt(worker -> -worker.status().held()))
                .toList();
        for (WorkerProcess worker : candidates) {
            String nodeId = worker.nodeId();
            if (nodeId == null || worker.status().running() == 0) {
                continue;
            }
            worker.halt();
            Thread.sleep(SETTLE_MS);
            RedisProbe.Holdings holdings = probe.holdings(nodeId);
            if (holdings.inFlight() > 0 && !holdings.held().isEmpty()) {
                long atUs = clock.nowUs();
                worker.kill();
                fleet.killed(worker);
                return new Kill(worker.name(), atUs, holdings.inFlight(), holdings.held());
            }
            worker.resume();
        }
        return null;
    }
}

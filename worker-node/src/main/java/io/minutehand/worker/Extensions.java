package io.minutehand.worker;

import io.minutehand.core.job.Limits;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.Receipt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the deadlines of this node's jobs ahead: what runs, waits in line, or has an outcome on its way is extended after a third of the visibility,
 * by one call a shard. A receipt that is refused tells that the job is another node's. Only the node's thread touches this.
 */
final class Extensions {
    private static final Logger log = LoggerFactory.getLogger(Extensions.class);
    private static final long SWEEP_NS = TimeUnit.MILLISECONDS.toNanos(200);

    /** A node whose sweeps come later than this was paused: jobs may be past their deadlines, and its own are extended before it judges. */
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final JobStore store;
    private final NodeEngine engine;
    private final DueTimer.Timer timer;
    private long sweptNs;

    Extensions(JobStore store, NodeEngine engine, DueTimer timer) {
        this.store = store;
        this.engine = engine;
        this.timer = timer.timer(() -> runOnce(System.nanoTime()));
    }

    void start(long nowNs) {
        sweptNs = nowNs;
        timer.setAt(nowNs + SWEEP_NS);
    }

    /** One sweep; returns how many jobs it asked to extend. */
    int runOnce(long nowNs) {
        timer.setAt(nowNs + SWEEP_NS);
        if (nowNs - sweptNs > PAUSE_NS) {
            log.info("node: was paused, extends its jobs before it judges pause_ms={}", (nowNs - sweptNs) / 1_000_000);
            engine.shards().forEach(Shard::unanswered);
        }
        sweptNs = nowNs;
        int count = 0;
        Map<Shard, List<Running>> due = new HashMap<>();
        for (Running running : engine.handlers().all()) {
            long thirdNs = running.shard().topic().visibilityNs() / 3;
            if (!running.lost() && !running.acked && nowNs - running.extendedNs >= thirdNs) {
                List<Running> list = due.computeIfAbsent(running.shard(), s -> new ArrayList<>());
                if (list.size() < Limits.BATCH_JOBS) {
                    list.add(running);
                    // Moved on before the answer, so that one call at a time asks for it; a failure sets it back.
                    running.extendedNs = nowNs;
                    count++;
                }
            }
        }
        due.forEach((shard, jobs) -> extend(shard, jobs, nowNs));
        return count;
    }

    private void extend(Shard shard, List<Running> jobs, long nowNs) {
        Duration visibility = shard.topic().settings().visibility();
        List<Receipt> receipts = jobs.stream().map(r -> r.handed().receipt()).toList();
        store.extend(shard.id, receipts, visibility).whenComplete(StoreCalls.guarded((verdicts, failure) -> {
            if (verdicts == null) {
                shard.unanswered();
                engine.calls().failed(shard.id.topic(), failure);
                long thirdNs = shard.topic().visibilityNs() / 3;
                jobs.forEach(running -> running.extendedNs = nowNs - thirdNs);
                return;
            }
            for (int i = 0; i < jobs.size(); i++) {
                Running running = jobs.get(i);
                if (verdicts.get(i)) {
                    running.extended(nowNs);
                } else if (!running.ended && !running.atMostOnce()) {
                    // Of a job that runs at most once the ack decides, which may have come before this.
                    engine.handlers().lost(running);
                }
            }
        }));
    }
}

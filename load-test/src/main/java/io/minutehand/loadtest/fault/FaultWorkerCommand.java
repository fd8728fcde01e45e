package io.minutehand.loadtest.fault;

import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.loadtest.fleet.Harness;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.redis.RedisCommands;
import io.minutehand.worker.NodeStats;
import io.minutehand.worker.WorkerNode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * One worker node of a fault run, in a process of its own.
 *
 * <p>SIGTERM ends it in good order with status 0; the end of its input ends it at once, since then the harness is gone.
 */
@Command(name = "fault-worker", hidden = true, description = "A worker process of a fault run; the run starts it.")
public final class FaultWorkerCommand implements Callable<Integer> {
    /** Address of Redis itself, for the clock of the ledger. */
    static final String DIRECT_VARIABLE = "MINUTEHAND_FAULT_DIRECT";

    /** Address of Redis for the node, which may lead through a proxy. */
    static final String LINK_VARIABLE = "MINUTEHAND_FAULT_LINK";

    private static final int STARTS = 10;
    private static final long STATUS_MS = 100;
    private static final long RESTART_MS = 1_000;

    @Option(names = "--name", required = true)
    private String name = "";

    @Option(names = "--namespace", required = true)
    private String namespace = "";

    @Option(names = "--work-dir", required = true)
    private Path workDir = Path.of("");

    @Option(names = "--direct", required = true, defaultValue = "${env:" + DIRECT_VARIABLE + "}")
    private String direct = "";

    @Option(names = "--link", required = true, defaultValue = "${env:" + LINK_VARIABLE + "}")
    private String link = "";

    @Override
    public Integer call() throws Exception {
        LogFile.use(workDir.resolve(name + ".log"));
        Thread.currentThread().setName("status");
        RunSettings settings = RunSettings.read(workDir);
        try (LedgerWriter ledger = LedgerWriter.create(workDir, name);
                RedisClock clock = clock()) {
            FaultHandlers handlers = new FaultHandlers(name, workDir, settings, ledger, clock);
            WorkerNode.Builder builder = WorkerNode.connect(link)
                    .namespace(namespace)
                    .name(name)
                    .settings(settings.node())
                    .declare(RunSettings.TOPIC, settings.topic());
            handlers.register(builder);
            WorkerNode node = start(builder);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(node), "stop"));
            Harness.listen(() -> Runtime.getRuntime().exit(0));
            report(node, handlers);
        }
        return 0;
    }

    /** Connects to Redis and asks for its time, and again if it is down just now: a node may be added while it is, or is killed. */
    private RedisClock clock() throws InterruptedException {
        for (int left = STARTS * 10; ; left--) {
            RedisCommands redis = null;
            try {
                redis = RedisCommands.connect(direct);
                return RedisClock.watch(redis);
            } catch (RuntimeException e) {
                if (redis != null) {
                    redis.close();
                }
                if (left == 0) {
                    throw e;
                }
                Thread.sleep(STATUS_MS);
            }
        }
    }

    /** Starts the node, and a little later again if Redis does not answer: so does whoever supervises processes. */
    private static WorkerNode start(WorkerNode.Builder builder) throws InterruptedException {
        for (int left = STARTS - 1; ; left--) {
            try {
                return builder.start();
            } catch (StoreException e) {
                if (left == 0) {
                    throw e;
                }
                Thread.sleep(RESTART_MS);
            }
        }
    }

    /** A JVM that a signal ends says so in its status, however orderly it went; this one says how it went. */
    private static void end(WorkerNode node) {
        try {
            node.close();
            Runtime.getRuntime().halt(0);
        } catch (RuntimeException e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void report(WorkerNode node, FaultHandlers handlers) throws InterruptedException {
        while (true) {
            // What is held is read first: a job that is held and not in flight any more does not exist.
            long held = handlers.held();
            NodeStats stats = node.stats();
            Map<String, Long> counts = new HashMap<>();
            stats.counters().forEach((counter, count) -> counts.put(name(counter), count));
            counts.put("ready", stats.ready() ? 1L : 0L);
            counts.put("owned", (long) stats.ownedShards());
            counts.put("stuck", (long) stats.stuck());
            counts.put("handlers", (long) stats.running());
            counts.put("barrier", held);
            Harness.tell(
                    new WorkerLine.Status(stats.nodeId(), stats.heldBuckets().size(), stats.inFlight(), counts));
            Thread.sleep(STATUS_MS);
        }
    }

    /** The name of a counter in a worker's status line. */
    static String name(Counter counter) {
        return counter.name().toLowerCase(Locale.ROOT);
    }
}

package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.fleet.Harness;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.redis.RedisCommands;
import io.minutehand.worker.NodeStats;
import io.minutehand.worker.WorkerNode;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * One worker node of the demo, in a process of its own: {@code WorkerProcess} starts it.
 *
 * <p>It ends in good order when its input says {@code stop}, and at once when its input is closed: then the demo is
 * gone, and so, most likely, is its Redis.
 */
@Command(name = "demo-worker", hidden = true, description = "A worker process of the demo; the demo starts it.")
public final class DemoWorkerCommand implements Callable<Integer> {
    private static final long STATUS_MS = 250;

    @Option(names = "--name", required = true)
    private String name = "";

    @Option(names = "--namespace", required = true)
    private String namespace = "";

    @Option(names = "--shards", required = true)
    private int shards;

    @Option(names = "--topics", required = true, split = ",")
    private List<String> topics = List.of();

    @Option(names = "--work-dir", required = true)
    private Path workDir = Path.of("");

    @Option(names = "--redis", required = true, defaultValue = "${env:MINUTEHAND_REDIS}")
    private String redis = "";

    @Override
    public Integer call() throws Exception {
        LogFile.use(workDir.resolve(name + ".log"));
        Thread.currentThread().setName("status");
        Set<DemoTopic> handled = new LinkedHashSet<>();
        topics.forEach(topic -> handled.add(DemoTopic.named(topic)));
        try (LedgerWriter ledger = LedgerWriter.create(workDir, name);
                RedisClock clock = RedisClock.watch(RedisCommands.connect(redis));
                OrderTable orders = OrderTable.open(workDir.resolve(Stage.ORDERS_FILE))) {
            WorkerNode.Builder builder =
                    WorkerNode.builder().redis(redis).namespace(namespace).name(name);
            new DemoHandlers(name, shards, ledger, clock, orders).register(builder, handled);
            try (WorkerNode node = builder.start()) {
                // Also for whoever ends this process by hand: SIGTERM is a stop in good order.
                Runtime.getRuntime().addShutdownHook(new Thread(node::close, "stop"));
                Harness.listen(() -> stopping = true);
                report(node);
            }
        }
        return 0;
    }

    private volatile boolean stopping;

    private void report(WorkerNode node) throws InterruptedException {
        while (!stopping) {
            NodeStats stats = node.stats();
            Harness.tell(
                    new WorkerLine.Status(stats.nodeId(), stats.heldBuckets().size(), stats.inFlight(), Map.of()));
            Thread.sleep(STATUS_MS);
        }
    }
}

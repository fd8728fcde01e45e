package io.minutehand.orders;

import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.worker.NodeStats;
import io.minutehand.worker.TopicOptions;
import io.minutehand.worker.WorkerNode;
import io.minutehand.worker.WorkerSettings;
import io.minutehand.worker.reconcile.Reconciler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A worker of the shop, as a process of its own: it closes orders whose time has come. {@link Workers} starts it. It says on its output how it fares,
 * ends in good order when its input says {@code stop}, and at once when its input is closed: then the demo is gone.
 */
final class OrderWorker {
    /** Handlers at once, with a connection each; the reconciler has one more. */
    private static final int HANDLERS = 7;

    private static final long STATUS_MS = 200;

    /** Attempts outlast an outage of the database of minutes. */
    private static final RetryPolicy RETRY = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofSeconds(10), 20);

    private final CountDownLatch told = new CountDownLatch(1);
    private final AtomicLong closed = new AtomicLong();
    private final Recorders recorders = new Recorders();

    private OrderWorker() {}

    /**
     * Runs a worker.
     *
     * @param args its name, and the file for its log
     */
    public static void main(String[] args) throws InterruptedException {
        LogFile.use(Path.of(args[1]));
        int status = 1;
        try {
            new OrderWorker().run(args[0], OrderSettings.fromEnvironment(System.getenv()));
            status = 0;
        } catch (RuntimeException | Error failed) {
            // Threads of clients would keep the process alive.
            failed.printStackTrace();
        }
        System.exit(status);
    }

    private void run(String name, OrderSettings settings) throws InterruptedException {
        listen();
        try (HikariDataSource database = OrderStore.pool(settings.database(), HANDLERS + 1, name);
                StoreConnection connection = StoreConnection.open(settings.redisOptions());
                WorkerNode node = node(name, connection, new OrderStore(database));
                Reconciler reconciler = OpenOrders.start(settings, connection, database, recorders)) {
            do {
                tell(node.stats(), reconciler.leading());
            } while (!told.await(STATUS_MS, TimeUnit.MILLISECONDS));
        }
    }

    private WorkerNode node(String name, StoreConnection connection, OrderStore orders) {
        return WorkerNode.builder()
                .connection(connection)
                .name(name)
                .settings(WorkerSettings.defaults().withStopGrace(Duration.ofSeconds(5)))
                .handle(
                        CloseOrder.TOPIC,
                        CloseOrder.class,
                        TopicOptions.defaults().concurrency(HANDLERS).retry(RETRY),
                        (order, job) -> {
                            // No row: somebody paid, or the job ran before. Neither is an error.
                            if (orders.close(order.orderId(), name)) {
                                closed.incrementAndGet();
                            }
                        })
                .start();
    }

    private void tell(NodeStats stats, boolean leading) {
        System.out.println(new WorkerStatus(
                        stats.heldBuckets().size(),
                        stats.running(),
                        closed.get(),
                        recorders.counted(Counter.RECONCILE_MISSING),
                        leading)
                .toLine());
        System.out.flush();
    }

    private void listen() {
        Thread input = new Thread(this::read, "input");
        input.setDaemon(true);
        input.start();
    }

    private void read() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            if ("stop".equals(input.readLine())) {
                told.countDown();
                return;
            }
        } catch (IOException e) {
            // As good as closed.
        }
        Runtime.getRuntime().halt(1);
    }
}

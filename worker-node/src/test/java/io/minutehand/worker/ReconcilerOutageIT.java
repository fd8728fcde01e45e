package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.worker.reconcile.PassReport;
import io.minutehand.worker.reconcile.Reconciler;
import io.minutehand.worker.reconcile.ReconcilerSettings;
import io.minutehand.worker.reconcile.RowMapping;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Redis loses everything: the reconciler puts back all jobs from the database. */
class ReconcilerOutageIT {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int ROWS = 1000;
    private static final Duration PERIOD = Duration.ofMillis(500);
    private static final ReconcilerSettings SETTINGS = ReconcilerSettings.defaults()
            .withPeriod(PERIOD)
            .withLookAhead(Duration.ofHours(2))
            .withPageSize(100)
            .withRowsPerSecond(20_000)
            .withLease(Duration.ofSeconds(2));

    /** Beyond a period: a lease that is noticed to be gone, a pass over all rows, and a machine that does much else. */
    private static final Duration SLACK = Duration.ofSeconds(30);

    private final List<PassReport> reports = new CopyOnWriteArrayList<>();
    private final Recorders recorders = new Recorders();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final AtomicLong flushedNs = new AtomicLong();
    private RedisServer server;
    private RedisOptions redis;
    private PostgresSchema schema;
    private LedgerTable orders;
    private Jobs jobs;
    private Reconciler reconciler;

    @BeforeEach
    void open() {
        server = RedisServer.start();
        redis = Workers.ownNamespace(server.uri());
        schema = SharedPostgres.newSchema(ReconcilerOutageIT.class);
        orders = new LedgerTable(schema);
        jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(4));
        orders.add(1, ROWS, jobs.nowMs() + TimeUnit.HOURS.toMillis(1));
        orders.add(ROWS + 1, ROWS + 100, jobs.nowMs());
        orders.run("UPDATE orders SET status = 'CLOSED' WHERE id > " + ROWS);
        lines.start();
        ((Logger) LoggerFactory.getLogger(Reconciler.class)).addAppender(lines);
    }

    @AfterEach
    void close() {
        ((Logger) LoggerFactory.getLogger(Reconciler.class)).detachAppender(lines);
        if (reconciler != null) {
            reconciler.close();
        }
        jobs.close();
        schema.close();
        server.close();
    }

    private void start(RowMapping mapping) {
        reconciler = Reconciler.builder()
                .redis(redis)
                .name("outage")
                .dataSource(schema.dataSource())
                .topic("orders", TopicSettings.defaults().withShards(4))
                .query(LedgerTable.open())
                .job(mapping)
                .settings(SETTINGS)
                .telemetry(recorders)
                .onPass(reports::add)
                .start();
        await("all rows have jobs, and a pass found nothing amiss")
                .atMost(LONG)
                .until(() ->
                        !reports.isEmpty() && reports.get(reports.size() - 1).missing() == 0);
        assertThat(jobs.counter("pending")).isEqualTo(ROWS);
    }

    /** Redis was emptied at {@link #flushedNs}. */
    private void assertAllPutBack(String what) {
        await("all open rows have jobs again").atMost(LONG).until(() -> jobs.counter("pending") == ROWS);
        Duration took = Duration.ofNanos(System.nanoTime() - flushedNs.get());
        int before = reports.size();
        await("a whole pass later").atMost(LONG).until(() -> reports.size() > before + 1);
        System.out.printf(
                "%s: all %d put back after ms=%d, period ms=%d, drift counted=%d%n",
                what, ROWS, took.toMillis(), PERIOD.toMillis(), recorders.counted(Counter.RECONCILE_MISSING) - ROWS);
        assertThat(took).isLessThan(PERIOD.plus(SLACK));
        assertThat(reports.get(reports.size() - 1).missing()).isZero();
        // A call that was sent once more because its answer was late may find its own job.
        assertThat(recorders.counted(Counter.RECONCILE_MISSING)).isBetween(ROWS + 1L, 2L * ROWS);
        assertThat(reports.stream().filter(report -> report.missing() > 0).count())
                .as("passes that told of drift")
                .isGreaterThanOrEqualTo(2);
        assertThat(jobs.counter("accepted")).as("rows that are closed got none").isEqualTo(ROWS);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldPutAllBackWithinAPeriodWhenRedisIsEmptiedInMidPass() {
        AtomicLong flushAt = new AtomicLong(-1);
        start(row -> {
            if (row.number("id") == flushAt.get()) {
                flushAt.set(-1);
                try (RedisCommands commands = server.connect()) {
                    commands.call("FLUSHALL");
                }
                flushedNs.set(System.nanoTime());
            }
            return LedgerTable.jobOf(row);
        });

        flushAt.set(ROWS / 2 + 50);

        await("Redis was emptied").atMost(LONG).until(() -> flushedNs.get() != 0);
        assertAllPutBack("flushed in mid-pass");
    }

    @Test
    void shouldSayOnceThatRedisIsAwayAndPutAllBackWhenItComesBackEmpty() {
        start(LedgerTable::jobOf);

        server.kill();
        await("it says so").atMost(LONG).until(() -> said(Level.WARN, "Redis does not") == 1);
        await("the lease has ended").atMost(LONG).until(() -> !reconciler.leading());
        server.restart();
        flushedNs.set(System.nanoTime());

        assertAllPutBack("killed without a file");
        // Once for each outage: one that begins again while the server starts is another.
        assertThat(said(Level.WARN, "Redis does not")).isBetween(1L, 3L);
        assertThat(said(Level.INFO, "was=\"Redis does not")).isEqualTo(said(Level.WARN, "Redis does not"));
    }

    private long said(Level level, String text) {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getLevel() == level)
                .filter(line -> line.getFormattedMessage().contains("name=outage"))
                .filter(line -> line.getFormattedMessage().contains(text))
                .count();
    }
}

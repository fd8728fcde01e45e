package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.reconcile.KeyColumn;
import io.minutehand.worker.reconcile.PassReport;
import io.minutehand.worker.reconcile.Reconciler;
import io.minutehand.worker.reconcile.ReconcilerSettings;
import io.minutehand.worker.reconcile.RowMapping;
import io.minutehand.worker.reconcile.RowQuery;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What a reconciler does to Redis for the rows of a real PostgreSQL. */
class ReconcilerIT {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String NAME = "open-orders";
    private static final long HOUR_MS = 3_600_000;

    /** One pass an hour: a test sees the first one, and others only where it asks for them. */
    private static final ReconcilerSettings ONE_PASS = ReconcilerSettings.defaults()
            .withPeriod(Duration.ofHours(1))
            .withLookAhead(Duration.ofHours(2))
            .withPageSize(50)
            .withRowsPerSecond(1_000_000);

    /** Short enough to see it end, long enough for a machine that does much else. */
    private static final ReconcilerSettings SHORT_LEASE = ONE_PASS.withLease(Duration.ofSeconds(3));

    private static PostgresSchema schema;

    private final RedisOptions redis = Workers.ownNamespace();
    private final List<PassReport> reports = new CopyOnWriteArrayList<>();
    private final Recorders recorders = new Recorders();
    private final List<Reconciler> reconcilers = new ArrayList<>();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private LedgerTable orders;
    private Jobs jobs;

    @BeforeAll
    static void openDatabase() {
        schema = SharedPostgres.newSchema(ReconcilerIT.class);
    }

    @AfterAll
    static void closeDatabase() {
        schema.close();
    }

    @BeforeEach
    void open() {
        orders = new LedgerTable(schema);
        jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(4));
        lines.start();
        logger().addAppender(lines);
    }

    @AfterEach
    void close() {
        reconcilers.forEach(Reconciler::close);
        jobs.close();
        logger().detachAppender(lines);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger(Reconciler.class);
    }

    private Reconciler start(ReconcilerSettings settings) {
        return start(settings, LedgerTable::jobOf, builder -> builder);
    }

    private Reconciler start(ReconcilerSettings settings, RowMapping mapping) {
        return start(settings, mapping, builder -> builder);
    }

    private Reconciler start(ReconcilerSettings settings, RowMapping mapping, UnaryOperator<Reconciler.Builder> more) {
        Reconciler reconciler = more.apply(Reconciler.builder()
                        // Long, for machines that do much else: nothing here is about lost replies.
                        .redis(redis.withReplyTimeout(Duration.ofSeconds(5)))
                        .name(NAME)
                        .dataSource(schema.dataSource())
                        .topic("orders")
                        .query(LedgerTable.open())
                        .job(mapping)
                        .settings(settings)
                        .telemetry(recorders)
                        .onPass(reports::add))
                .start();
        reconcilers.add(reconciler);
        return reconciler;
    }

    private PassReport report(int number) {
        await("pass " + number + " is complete").atMost(LONG).until(() -> reports.size() >= number);
        return reports.get(number - 1);
    }

    private long soonMs() {
        return jobs.nowMs() + HOUR_MS;
    }

    /**
     * Rows without and with a job. The jobs of a batch whose answer was late, so that it was sent again, or that a stop left behind, may be found
     * instead of missed.
     */
    private static void assertDrift(PassReport report, long missing, long present) {
        assertThat(report.missing() + report.present()).isEqualTo(missing + present);
        assertThat(report.missing()).isBetween(Math.max(0, missing - ONE_PASS.pageSize()), missing);
    }

    /** Lines of this class's reconcilers: others run beside it in the same process. */
    private List<String> linesOf(Level level) {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.contains("name=" + NAME))
                .toList();
    }

    @Test
    void shouldPutBackWhatIsMissingOnceAndTellOfTheDrift() {
        long dueMs = soonMs();
        orders.add(1, 120, dueMs);
        orders.run("UPDATE orders SET status = 'PAID' WHERE id % 10 = 0");
        // Live traffic has scheduled some, by another request than the reconciler's.
        List<NewJob> live = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            live.add(Jobs.job(LedgerTable.idOf(i), dueMs + 5, "{}"));
        }
        jobs.scheduleAll(live);

        start(ONE_PASS);

        PassReport first = report(1);
        assertThat(first)
                .returns(NAME, PassReport::name)
                .returns(1L, PassReport::pass)
                .returns(false, PassReport::dryRun)
                .returns(3L, PassReport::pages)
                .returns(108L, PassReport::rows)
                .returns(0L, PassReport::ended)
                .returns(0L, PassReport::refused);
        assertDrift(first, 72, 36);
        assertThat(first.missingIds()).hasSize(5).allMatch(id -> Integer.parseInt(id.substring(6)) > 40);
        assertThat(jobs.counter("accepted")).isEqualTo(40 + 72);
        assertThat(jobs.find("order:41").orElseThrow().job().dueAt().toEpochMilli())
                .isEqualTo(dueMs);
        assertThat(jobs.find("order:1").orElseThrow().job().dueAt().toEpochMilli())
                .isEqualTo(dueMs + 5);
        assertThat(jobs.find("order:50")).isEmpty();
        assertThat(recorders.counted(Counter.RECONCILE_ROWS, "orders")).isEqualTo(108);
        assertThat(recorders.counted(Counter.RECONCILE_MISSING, "orders")).isEqualTo(first.missing());
        assertThat(recorders.counted(Counter.RECONCILE_REFUSED, "orders")).isZero();
        assertThat(linesOf(Level.WARN))
                .singleElement()
                .asString()
                .contains("drift")
                .contains("missing=" + first.missing())
                .contains(first.missingIds().get(0));
    }

    @Test
    void shouldGoThroughTheRowsOnceAPeriodAndSayNothingWhenAllIsWell() {
        orders.add(1, 60, soonMs());

        start(ONE_PASS.withPeriod(Duration.ofMillis(300)));

        PassReport first = report(1);
        PassReport third = report(3);
        assertDrift(first, 60, 0);
        assertThat(reports.get(1).missing()).isZero();
        assertThat(third.pass()).isEqualTo(3);
        assertThat(third.present()).isEqualTo(60);
        assertThat(Duration.between(first.beganAt(), third.beganAt())).isGreaterThanOrEqualTo(Duration.ofMillis(600));
        assertThat(linesOf(Level.WARN)).hasSize(1);
        assertThat(jobs.counter("accepted")).isEqualTo(60);
    }

    @Test
    void shouldNeverTouchWhatRunsEndedOrDied() {
        Runs runs = new Runs();
        try (Workers workers = new Workers(redis)) {
            workers.start("node", "orders", (payload, job) -> {
                runs.add("node", job);
                if (job.id().endsWith("2")) {
                    throw Dead.because("planned");
                }
            });
            long dueMs = jobs.nowMs();
            for (int i = 1; i <= 6; i++) {
                jobs.now(LedgerTable.idOf(i));
            }
            jobs.schedule("order:7", dueMs + HOUR_MS, "{}");
            await("they have run").atMost(LONG).until(() -> jobs.ended() == 6);
            // Rows that their handlers did not close, yet.
            orders.add(1, 7, dueMs);

            start(ONE_PASS.withPeriod(Duration.ofMillis(300)));

            report(3);
            assertThat(reports)
                    .allSatisfy(report -> assertThat(report)
                            .returns(0L, PassReport::missing)
                            .returns(7L, PassReport::present)
                            .returns(1L, PassReport::dead)
                            .returns(5L, PassReport::ended));
            assertThat(runs.size()).isEqualTo(6);
            assertThat(jobs.find("order:2").map(JobStatus::state)).contains(JobState.DEAD);
            assertThat(jobs.counter("accepted")).isEqualTo(7);
            assertThat(jobs.counter("pending")).isOne();
        }
    }

    @Test
    void shouldOnlyCountInADryRunAndNotHinderARealOne() {
        orders.add(1, 70, soonMs());
        jobs.schedule("order:7", soonMs(), "{}");

        start(ONE_PASS.withDryRun(true));

        PassReport dry = report(1);
        assertThat(dry.dryRun()).isTrue();
        assertThat(dry.missing()).isEqualTo(69);
        assertThat(dry.present()).isOne();
        assertThat(jobs.counter("accepted")).isOne();
        assertThat(linesOf(Level.WARN)).singleElement().asString().contains("dry run");

        start(ONE_PASS);
        assertDrift(report(2), 69, 1);
        assertThat(jobs.counter("accepted")).isEqualTo(70);
    }

    @Test
    void shouldCountRowsOfWhichNoJobCanBeMadeAndGoOn() {
        orders.add(1, 100, soonMs());

        start(ONE_PASS, row -> {
            JobSpec<byte[]> job = LedgerTable.jobOf(row);
            return switch ((int) row.number("id") % 10) {
                case 0 -> throw new IllegalStateException("planned\nfailure");
                case 1 -> null;
                case 2 -> JobSpec.of("no id");
                case 3 -> job.replacing();
                case 4 -> job.id("not an id");
                case 5 -> JobSpec.of(row.text("no_such_column"));
                default -> job;
            };
        });

        PassReport report = report(1);
        assertThat(report)
                .returns(100L, PassReport::rows)
                .returns(10L, PassReport::skipped)
                .returns(50L, PassReport::refused);
        assertDrift(report, 40, 0);
        assertThat(report.refusals())
                .hasSize(5)
                .satisfiesExactly(
                        text -> assertThat(text).startsWith("key=2 ").contains("no id"),
                        text -> assertThat(text).startsWith("key=3 ").contains("replacing"),
                        text -> assertThat(text).startsWith("key=4 ").contains("not an id"),
                        text -> assertThat(text).startsWith("key=5 ").contains("no_such_column"),
                        text -> assertThat(text).startsWith("key=10 ").contains("planned failure"));
        assertThat(jobs.counter("pending")).isEqualTo(40);
        assertThat(recorders.counted(Counter.RECONCILE_REFUSED, "orders")).isEqualTo(50);
        assertThat(linesOf(Level.WARN)).anyMatch(line -> line.contains("refused=50"));
    }

    @Test
    void shouldOutliveWhateverMappingAndListenerThrow() {
        orders.add(1, 100, soonMs());
        AtomicBoolean spent = new AtomicBoolean();

        start(
                ONE_PASS.withPeriod(Duration.ofMillis(100)),
                row -> {
                    if (row.number("id") == 30) {
                        throw new AssertionError("planned");
                    }
                    if (row.number("id") == 70 && spent.compareAndSet(false, true)) {
                        throw new OutOfMemoryError("planned");
                    }
                    return LedgerTable.jobOf(row);
                },
                builder -> builder.onPass(report -> {
                    reports.add(report);
                    if (report.pass() == 1) {
                        throw new AssertionError("planned");
                    }
                    ReconcilerIT.<RuntimeException>throwUnseen(new java.io.IOException("planned"));
                }));

        assertThat(report(1).refused()).isOne();
        assertThat(report(3).present()).isEqualTo(99);
        assertThat(linesOf(Level.ERROR))
                .anyMatch(line -> line.contains("a pass cannot go on") && line.contains("OutOfMemoryError"))
                .filteredOn(line -> line.contains("listener failed"))
                .hasSizeGreaterThanOrEqualTo(2);
    }

    /** As Kotlin and Lombok do. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void throwUnseen(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void shouldLookAheadNoFurtherThanTold() {
        long nowMs = jobs.nowMs();
        orders.add(1, 1, nowMs - HOUR_MS);
        orders.add(2, 2, nowMs + HOUR_MS);
        orders.add(3, 3, nowMs + 3 * HOUR_MS);

        start(ONE_PASS);

        assertDrift(report(1), 2, 0);
        assertThat(jobs.find("order:3")).isEmpty();
        assertThat(jobs.find("order:2").orElseThrow().job().dueAt().toEpochMilli())
                .isEqualTo(nowMs + HOUR_MS);
        assertThat(jobs.find("order:1").orElseThrow().job().dueAt().toEpochMilli())
                .as("what is past is due now")
                .isBetween(nowMs, jobs.nowMs() + 1000);
    }

    @Test
    void shouldKeepToItsRate() {
        orders.add(1, 300, soonMs());

        start(ONE_PASS.withRowsPerSecond(150));

        PassReport report = report(1);
        assertThat(report.pages()).isEqualTo(6);
        assertThat(report.took())
                .as("five pages of 50, a third of a second each")
                .isGreaterThan(Duration.ofMillis(1600));
    }

    @Test
    void shouldWriteNothingMoreWhenItsLeaseIsLostInMidPageAndGoOnLater() {
        orders.add(1, 150, soonMs());
        String lease = key("lease");
        AtomicBoolean stolen = new AtomicBoolean();
        AtomicBoolean returned = new AtomicBoolean();
        List<Reconciler> mine = new CopyOnWriteArrayList<>();
        try (RedisCommands commands = SharedRedis.get().connect()) {
            mine.add(start(SHORT_LEASE, row -> {
                if (row.number("id") == 75 && stolen.compareAndSet(false, true)) {
                    await("it is known").atMost(LONG).until(() -> mine.size() == 1);
                    try (RedisCommands thief = SharedRedis.get().connect()) {
                        thief.call("DEL", lease);
                        thief.call("HSET", lease, "thief:1", "1");
                    }
                    await("it notices").atMost(LONG).until(() -> !mine.get(0).leading());
                    returned.set(true);
                }
                return LedgerTable.jobOf(row);
            }));
            await("the lease was lost in mid-page").atMost(LONG).until(returned::get);
            await("it says so")
                    .atMost(LONG)
                    .until(() -> linesOf(Level.INFO).stream().anyMatch(line -> line.contains("lease was lost")));
            assertThat(jobs.counter("accepted"))
                    .as("the first page, not the second")
                    .isEqualTo(50);
            assertThat(commands.text("GET", key("state"))).contains("\"cursor\":[\"50\"]");
            assertThat(reports).isEmpty();

            commands.call("DEL", lease);

            PassReport report = report(1);
            assertThat(report.rows()).isEqualTo(150);
            assertDrift(report, 150, 0);
            assertThat(report.pages()).isEqualTo(3);
            assertThat(jobs.counter("accepted")).isEqualTo(150);
        }
    }

    private String key(String what) {
        return redis.namespace() + ":reconcile:{" + NAME + "}:" + what;
    }

    @Test
    void shouldTakeTurnsAndGoOnWhereTheOtherStopped() {
        orders.add(1, 400, soonMs());
        Set<Long> firsts = ConcurrentHashMap.newKeySet();
        Set<Long> seconds = ConcurrentHashMap.newKeySet();
        // Ten rows a second: it would need 40 s for all.
        Reconciler first = start(ONE_PASS.withRowsPerSecond(10), row -> {
            firsts.add(row.number("id"));
            return LedgerTable.jobOf(row);
        });
        await("the first one leads").atMost(LONG).until(() -> first.leading() && !firsts.isEmpty());
        Reconciler second = start(SHORT_LEASE, row -> {
            seconds.add(row.number("id"));
            return LedgerTable.jobOf(row);
        });
        await("it is at its third page").atMost(LONG).until(() -> firsts.size() > 20);
        assertThat(seconds).as("one at a time").isEmpty();

        first.close();

        PassReport report = report(1);
        assertThat(first.leading()).isFalse();
        assertThat(second.lastPass()).contains(report);
        assertThat(report.rows()).isEqualTo(400);
        assertDrift(report, 400, 0);
        assertThat(seconds).as("not from the beginning").doesNotContain(1L, 20L).contains(400L);
        assertThat(jobs.counter("accepted")).isEqualTo(400);
        System.out.printf("took turns: rows of the first=%d second=%d%n", firsts.size(), seconds.size());
    }

    @Test
    void shouldGoOnByItselfWhenTheDatabaseBreaksOffAndSayItOnce() {
        orders.add(1, 150, soonMs());
        AtomicInteger broken = new AtomicInteger();

        start(
                ONE_PASS,
                row -> {
                    // In mid-page, three times in a row.
                    if (row.number("id") == 75 && broken.incrementAndGet() <= 3) {
                        orders.run("SELECT pg_terminate_backend(" + row.number("backend") + ")");
                        throw new SQLException("cut off");
                    }
                    return LedgerTable.jobOf(row);
                },
                builder -> builder.settings(ONE_PASS.withFetchSize(1)));

        PassReport report = report(1);
        assertThat(broken).hasValueGreaterThan(3);
        assertThat(report.rows()).isEqualTo(150);
        assertDrift(report, 150, 0);
        assertThat(report.refused()).isZero();
        assertThat(linesOf(Level.WARN))
                .filteredOn(line -> line.contains("database"))
                .hasSize(1);
        assertThat(linesOf(Level.INFO))
                .filteredOn(line -> line.contains("was=\"the database"))
                .hasSize(1);
    }

    @Test
    void shouldSayWhatIsWrongWithAQueryAndGoOnWhenItIsRight() {
        orders.add(1, 60, soonMs());
        orders.run("ALTER TABLE orders RENAME COLUMN due_at TO later");

        start(ONE_PASS);

        await("it tells of it").atMost(LONG).until(() -> !linesOf(Level.WARN).isEmpty());
        assertThat(linesOf(Level.WARN)).singleElement().asString().contains("due_at");
        orders.run("ALTER TABLE orders RENAME COLUMN later TO due_at");
        assertDrift(report(1), 60, 0);
    }

    @Test
    void shouldBeginAnewWithAnotherQuery() {
        orders.add(1, 120, soonMs());
        AtomicInteger rows = new AtomicInteger();
        // Ten rows a second: it would need 12 s for all.
        Reconciler old = start(ONE_PASS.withRowsPerSecond(10), row -> {
            rows.incrementAndGet();
            return LedgerTable.jobOf(row);
        });
        await("it is at its second page").atMost(LONG).until(() -> rows.get() > 10);
        old.close();

        start(
                ONE_PASS,
                LedgerTable::jobOf,
                builder -> builder.query(
                        RowQuery.of("SELECT id, due_at FROM orders WHERE id < 100", KeyColumn.number("id"))));

        PassReport report = report(1);
        assertThat(report.rows()).as("from the beginning").isEqualTo(99);
        assertThat(report.pass()).isEqualTo(2);
    }

    @Test
    void shouldNotWaitForACancelThatHangs() throws Exception {
        orders.add(1, 60, soonMs());
        CountDownLatch cancelled = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        CountDownLatch mapping = new CountDownLatch(1);
        Reconciler reconciler = start(
                ONE_PASS,
                row -> {
                    mapping.countDown();
                    cancelled.await();
                    return LedgerTable.jobOf(row);
                },
                builder -> builder.dataSource(intercepted(DataSource.class, schema.dataSource(), () -> {
                    cancelled.countDown();
                    released.await();
                    return null;
                })));
        try {
            mapping.await();
            CompletableFuture<Void> closing = CompletableFuture.runAsync(reconciler::close);
            assertThat(closing).succeedsWithin(LONG);
            assertThat(cancelled.getCount()).isZero();
            assertThat(reconciler.leading()).isFalse();
        } finally {
            released.countDown();
        }
    }

    /** A data source, connection or statement whose statements do this instead of being cancelled. */
    private static <T> T intercepted(Class<T> type, T real, Callable<?> cancel) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, values) -> {
                    if (method.getName().equals("cancel")) {
                        return cancel.call();
                    }
                    Object result = method.invoke(real, values);
                    return switch (method.getName()) {
                        case "getConnection" -> intercepted(Connection.class, (Connection) result, cancel);
                        case "prepareStatement" ->
                            intercepted(PreparedStatement.class, (PreparedStatement) result, cancel);
                        default -> result;
                    };
                }));
    }

    @Test
    void shouldStopAtOnceAlsoInsideItsListener() {
        orders.add(1, 60, soonMs());
        AtomicBoolean closed = new AtomicBoolean();
        List<Reconciler> mine = new CopyOnWriteArrayList<>();
        mine.add(start(
                ONE_PASS.withPeriod(Duration.ofMillis(100)),
                LedgerTable::jobOf,
                builder -> builder.onPass(report -> {
                    await("it is known").atMost(LONG).until(() -> mine.size() == 1);
                    mine.get(0).close();
                    closed.set(true);
                    throw new IllegalStateException("planned");
                })));

        await("it was closed").atMost(LONG).until(closed::get);
        await("it gave its lease back").atMost(LONG).until(() -> {
            try (RedisCommands commands = SharedRedis.get().connect()) {
                return commands.number("EXISTS", key("lease")) == 0;
            }
        });
        assertThat(mine.get(0).leading()).isFalse();
        assertThat(linesOf(Level.ERROR)).singleElement().asString().contains("listener failed");
    }
}

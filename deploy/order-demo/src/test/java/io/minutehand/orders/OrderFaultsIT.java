package io.minutehand.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobStatus;
import io.minutehand.orders.OrderRun.Plan;
import io.minutehand.orders.OrderRun.Result;
import io.minutehand.postgres.PostgresInstance;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.JobRouter;
import io.minutehand.source.PrivateDirectory;
import java.io.BufferedReader;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the shop promises when things break, in full: worker and Redis are killed, Redis is emptied, the order service dies between its commit and its
 * call of the scheduler. The tables alone judge.
 */
@Tag("faults")
class OrderFaultsIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String OPEN = "the shop is open at ";
    private static final Duration SCAN = Duration.ofSeconds(3);

    /** The moment at which Redis lost all. */
    private record Lost(String at, Set<String> ended) {}

    private final PostgresInstance postgres = SharedPostgres.get();
    private final AtomicReference<Lost> lost = new AtomicReference<>();
    private PrivateDirectory home;
    private RedisServer redis;

    @BeforeEach
    void open() {
        System.out.println("order faults: PostgreSQL is " + postgres.describe());
        home = PrivateDirectory.create("orders-test");
        redis = RedisServer.start();
    }

    @AfterEach
    void close() {
        redis.close();
        home.close();
    }

    @Test
    void shouldBalanceTenThousandOrdersPaidAroundTheirTimeWhileAWorkerIsKilled() throws Exception {
        try (Site site = Site.open(postgres, redis, home, Duration.ofSeconds(5), SCAN, 3, System.out::println)) {
            Result result = run(site, new Plan(10_000, 400, 0.5, System.nanoTime(), true, false, null));

            assertThat(site.workers().all())
                    .extracting(Workers.Worker::state)
                    .containsOnlyOnce(Workers.State.KILLED)
                    .contains(Workers.State.UP);
            assertThat(result.balance().grace()).isEqualTo(Duration.ofSeconds(10));
            assertThat(result.paid()).as("payments that won").isPositive();
        }
    }

    @Test
    void shouldCloseAllWhenRedisIsEmptied() throws Exception {
        assertAllComesBack(new Plan(2_400, 200, 0.5, System.nanoTime(), false, true, null));
    }

    @Test
    void shouldCloseAllWhenRedisIsKilledAndComesBackEmpty() throws Exception {
        assertAllComesBack(new Plan(2_400, 200, 0.5, System.nanoTime(), false, false, Duration.ofSeconds(3)));
    }

    private void assertAllComesBack(Plan plan) throws Exception {
        AtomicReference<Site> opened = new AtomicReference<>();
        try (Site site = Site.open(postgres, redis, home, Duration.ofSeconds(4), SCAN, 2, what -> {
            System.out.println(what);
            noteTrouble(opened.get());
        })) {
            opened.set(site);
            Result result = run(site, plan);

            Lost trouble = lost.get();
            // Open when Redis lost all, their jobs scheduled before and not yet due, and nobody paid them later: each
            // needed a new job.
            long needed = Sql.number(
                    site.settings().database(),
                    "SELECT count(*) FROM orders WHERE status = 'CLOSED' AND created_at < '%1$s'::timestamptz - interval '1 s'"
                                    .formatted(trouble.at())
                            + " AND due_at > '%s'::timestamptz + interval '1 s'".formatted(trouble.at()));
            Set<String> now = ends(site);
            System.out.printf(
                    "orders that needed a new job for sure: %d of %d open ones, drift %d; orders that had ended when Redis lost all: %d,"
                            + " of these with other or more effects now: %d%n",
                    needed,
                    result.openAtTrouble(),
                    result.missingAfterTrouble(),
                    trouble.ended().size(),
                    trouble.ended().stream().filter(one -> !now.contains(one)).count());
            assertThat(needed).isGreaterThan(100);
            assertThat(result.missingAfterTrouble())
                    .as("drift that the reconcilers counted")
                    .isGreaterThanOrEqualTo(needed);
            assertThat(trouble.ended()).hasSizeGreaterThan(plan.orders() / 4);
            assertThat(now).containsAll(trouble.ended());
        }
    }

    /** At the first thing that is done: when it was, by the database, and which orders had ended, and how. */
    private void noteTrouble(Site site) {
        if (site != null && lost.get() == null) {
            try {
                String now = Sql.texts(site.settings().database(), "SELECT clock_timestamp()::text")
                        .iterator()
                        .next();
                lost.set(new Lost(now, ends(site)));
            } catch (java.sql.SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** For each order that has ended all its effects, with their times. */
    private static Set<String> ends(Site site) throws java.sql.SQLException {
        return Sql.texts(
                site.settings().database(),
                "SELECT order_id || ' ' || string_agg(what || ' ' || at, ', ' ORDER BY at) FROM effects GROUP BY order_id");
    }

    private static Result run(Site site, Plan plan) throws Exception {
        Result result = new OrderRun(site, plan, System.out::println).run();
        System.out.printf(
                Locale.ROOT,
                "orders=%d seed=%d took=%d ms, too late to pay=%d, failed=%d+%d, jobs direct=%d relayed=%d,"
                        + " open at trouble=%d, drift after it=%d%n%s%n",
                plan.orders(),
                plan.seed(),
                result.took().toMillis(),
                result.tooLate(),
                result.notCreated(),
                result.paymentsFailed(),
                result.direct(),
                result.relayed(),
                result.openAtTrouble(),
                result.missingAfterTrouble(),
                String.join("\n", result.balance().lines()));
        assertThat(result.balance().settled()).as("%s", result).isTrue();
        assertThat(result.passed()).as("%s", result).isTrue();
        return result;
    }

    @Test
    void shouldCloseWhatWasCommittedAndNothingElseWhenTheServiceHaltsInBetween() throws Exception {
        try (PostgresSchema schema = postgres.newSchema("crash")) {
            OrderSettings settings = new OrderSettings(redis.uri(), "crash", schema.url(), Duration.ofSeconds(6), SCAN);
            List<Long> committed = new ArrayList<>();
            List<Long> rolledBack = new ArrayList<>();
            crash(settings, 200, 185, 15, committed, rolledBack);
            assertThat(committed).hasSize(200).doesNotHaveDuplicates();
            assertThat(rolledBack).hasSize(200).doesNotHaveDuplicates();
            long rows = Sql.number(schema.url(), "SELECT count(*) FROM minutehand_outbox");
            assertThat(rows).isEqualTo(200);

            Workers workers = new Workers(home, settings);
            try (JobRouter router =
                    JobRouter.builder().redis(settings.redisOptions()).connect()) {
                int jobsBefore = found(router, committed);
                try (OrderService service = OrderService.open(settings);
                        workers) {
                    await("the relay has scheduled all")
                            .atMost(LIMIT)
                            .until(() -> Sql.number(schema.url(), "SELECT count(*) FROM minutehand_outbox") == 0);
                    int jobs = found(router, committed);
                    int strays = found(router, rolledBack);
                    workers.start(1);
                    await("all committed orders have ended")
                            .atMost(LIMIT)
                            .until(() -> service.orders().open() == 0);
                    Balance balance = service.orders().balance(Duration.ofMinutes(5));
                    System.out.printf(
                            "halted between commit and schedule: committed=%d, of them with a job before=%d, after=%d,"
                                    + " relayed=%d, closed=%d; rolled back=%d, of them with a job=%d%n",
                            committed.size(),
                            jobsBefore,
                            jobs,
                            service.relayed().scheduled(),
                            balance.closed(),
                            rolledBack.size(),
                            strays + found(router, rolledBack));

                    assertThat(jobsBefore).isLessThan(200);
                    assertThat(jobs).isEqualTo(200);
                    assertThat(strays + found(router, rolledBack)).isZero();
                    assertThat(service.relayed().scheduled()).isEqualTo(200);
                    assertThat(balance.settled()).as("%s", balance).isTrue();
                    assertThat(balance.closed()).isEqualTo(200);
                    assertThat(Sql.texts(schema.url(), "SELECT order_id::text FROM effects"))
                            .containsExactlyInAnyOrderElementsOf(
                                    committed.stream().map(String::valueOf).toList());
                }
            }
        }
    }

    /**
     * One crash after the other, each between one commit and its call of the scheduler, beside a shop that goes on: with
     * {@code -Dorder.crashes=200} as often as was promised.
     */
    @Test
    void shouldCloseWhatEachServiceCommittedBeforeItHalted() throws Exception {
        int crashes = Integer.getInteger("order.crashes", 8);
        try (PostgresSchema schema = postgres.newSchema("crashes")) {
            OrderSettings settings =
                    new OrderSettings(redis.uri(), "crashes", schema.url(), Duration.ofSeconds(6), SCAN);
            List<Long> committed = new ArrayList<>();
            List<Long> rolledBack = new ArrayList<>();
            try (OrderService service = OrderService.open(settings);
                    Workers workers = new Workers(home, settings)) {
                workers.start(1);
                for (int i = 0; i < crashes; i++) {
                    crash(settings, 1, 1, 0, committed, rolledBack);
                }
                await("all committed orders have ended")
                        .atMost(LIMIT)
                        .until(() -> service.orders().open() == 0);
                Balance balance = service.orders().balance(Duration.ofMinutes(5));
                int strays = found(service.router(), rolledBack);
                System.out.printf(
                        "%d crashes between commit and schedule: committed=%d, closed=%d, relayed=%d;"
                                + " rolled back=%d, of them with a job=%d%n",
                        crashes,
                        committed.size(),
                        balance.closed(),
                        service.relayed().scheduled(),
                        rolledBack.size(),
                        strays);

                assertThat(committed).hasSize(crashes).doesNotHaveDuplicates();
                assertThat(rolledBack).hasSize(crashes).doesNotHaveDuplicates();
                assertThat(balance.settled()).as("%s", balance).isTrue();
                assertThat(balance.closed()).isEqualTo(crashes);
                assertThat(strays).isZero();
                assertThat(Sql.texts(schema.url(), "SELECT order_id::text FROM effects"))
                        .containsExactlyInAnyOrderElementsOf(
                                committed.stream().map(String::valueOf).toList());
            }
        }
    }

    /** A process of its own, which says which orders it has committed and rolled back, and halts. */
    private void crash(
            OrderSettings settings, int commit, int rollBack, int leave, List<Long> committed, List<Long> rolledBack)
            throws Exception {
        // Its reconciler looks once, at the start.
        OrderSettings its = new OrderSettings(
                settings.redis(), settings.namespace(), settings.database(), settings.delay(), Duration.ofHours(1));
        ProcessBuilder builder = new ProcessBuilder(
                        java(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        Workers.absoluteClassPath(),
                        CrashingService.class.getName(),
                        Integer.toString(commit),
                        Integer.toString(rollBack),
                        Integer.toString(leave))
                .redirectError(home.path().resolve("crashing.err").toFile());
        builder.environment().putAll(its.toEnvironment());
        Process process = home.start(builder);
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", -1);
                assertThat(words).as(line).hasSize(2);
                (words[0].equals("committed") ? committed : rolledBack).add(Long.parseLong(words[1]));
            }
        }
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue())
                .as(Files.readString(home.path().resolve("crashing.err")))
                .isEqualTo(CrashingService.HALTED);
    }

    private static int found(JobRouter router, List<Long> orders) {
        var handle = router.topic(CloseOrder.TOPIC, CloseOrder.class);
        int found = 0;
        for (long order : orders) {
            found += handle.find(CloseOrder.jobId(order))
                            .join()
                            .map(JobStatus::job)
                            .isPresent()
                    ? 1
                    : 0;
        }
        return found;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The command as people run it: the page is there, and after SIGTERM nothing of it is left. */
    @Test
    @Timeout(180)
    void shouldEndAllThatItStartedWhenItIsToldTo(@TempDir Path temporary) throws Exception {
        Process demo = new ProcessBuilder(
                        java(),
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + temporary,
                        "-jar",
                        System.getProperty("minutehand.jar"),
                        "--port",
                        "0",
                        "--workers",
                        "1")
                .redirectError(temporary.resolveSibling("demo.err").toFile())
                .start();
        List<ProcessHandle> started;
        try (BufferedReader lines = demo.inputReader(StandardCharsets.UTF_8)) {
            String url = null;
            while (url == null) {
                String line = lines.readLine();
                assertThat(line)
                        .as(Files.readString(temporary.resolveSibling("demo.err")))
                        .isNotNull();
                System.out.println(line);
                if (line.startsWith(OPEN)) {
                    url = line.substring(OPEN.length()).split(" ", -1)[0];
                }
            }
            try (InputStream page = java.net.URI.create(url).toURL().openStream()) {
                assertThat(new String(page.readAllBytes(), StandardCharsets.UTF_8))
                        .contains("Order demo");
            }
            started = demo.descendants().toList();
            assertThat(started).hasSizeGreaterThan(3);
            demo.toHandle().destroy();
            assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            demo.destroyForcibly();
        }
        assertThat(demo.exitValue()).isEqualTo(143);
        await("all processes are gone")
                .atMost(LIMIT)
                .until(() -> started.stream().noneMatch(ProcessHandle::isAlive));
        await("nothing is left")
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(temporary).isEmptyDirectory());
    }
}

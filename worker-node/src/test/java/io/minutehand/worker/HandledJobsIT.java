package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.jdbc.HandledJobs;
import io.minutehand.worker.jdbc.TransactionalHandler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Effects in a real database happen once, however often their jobs run. They are counted in a table without a key. */
class HandledJobsIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final PostgresSchema schema = SharedPostgres.newSchema(HandledJobsIT.class);
    private final DataSource database = schema.dataSource();
    private final HandledJobs handled = HandledJobs.inTable();
    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private Jobs jobs;

    @BeforeEach
    void open() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            handled.createTable(connection);
            handled.createTable(connection);
            statement.execute("CREATE TABLE effects (job_id varchar(128), who varchar(20))");
        }
        jobs = new Jobs(
                redis,
                "points",
                TopicSettings.defaults()
                        .withShards(2)
                        .withRetention(Duration.ZERO)
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(50), 10)));
    }

    @AfterEach
    void close() {
        workers.close();
        jobs.close();
        schema.close();
    }

    /** Adds a row that says who did it. */
    static <T> TransactionalHandler<T> effectOf(String who) {
        return (connection, payload, job) -> {
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO effects VALUES (?, ?)")) {
                insert.setString(1, job.id());
                insert.setString(2, who);
                insert.executeUpdate();
            }
        };
    }

    @Test
    void shouldHaveEachEffectOnceWhereverAttemptsFail() throws Exception {
        int count = 24;
        Map<String, Integer> failedAfterCommit = new ConcurrentHashMap<>();
        JobHandler<byte[]> once = handled.once(database, (connection, payload, job) -> {
            failAt(0, job);
            HandledJobsIT.<byte[]>effectOf("node").handle(connection, payload, job);
            failAt(1, job);
        });
        workers.start("node", "points", (payload, job) -> {
            once.handle(payload, job);
            try {
                failAt(2, job);
            } catch (IllegalStateException e) {
                failedAfterCommit.merge(job.id(), 1, Integer::sum);
                throw e;
            }
        });
        List<NewJob> batch = new ArrayList<>();
        long nowMs = jobs.nowMs();
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job("job-" + i, nowMs, "{}"));
        }
        jobs.scheduleAll(batch);

        await("all are done").atMost(LONG).until(() -> jobs.counter("done") == count);
        assertThat(failedAfterCommit).as("jobs whose effect was made before").hasSizeGreaterThan(count / 3);
        assertThat(number("SELECT count(*) FROM effects")).isEqualTo(count);
        assertThat(number("SELECT count(DISTINCT job_id) FROM effects")).isEqualTo(count);
        assertThat(number("SELECT count(*) FROM minutehand_handled WHERE topic = 'points'"))
                .isEqualTo(count);
    }

    /** Attempts 1 to 3 of a job fail at other points each, in another order for the next job; the fourth does not. */
    private static void failAt(int point, JobContext job) {
        int number = Integer.parseInt(job.id().substring("job-".length()));
        if (job.attempt() <= 3 && (number + job.attempt()) % 4 == point) {
            throw new IllegalStateException("injected at point " + point);
        }
    }

    @Test
    void shouldHaveNoSecondEffectWhenAJobComesBackUntilItIsForgotten() throws Exception {
        Queue<Integer> runs = new ConcurrentLinkedQueue<>();
        JobHandler<byte[]> once = handled.once(database, effectOf("node"));
        workers.start("node", "points", (payload, job) -> {
            once.handle(payload, job);
            runs.add(job.attempt());
        });
        jobs.now("a");
        await("done").atMost(LONG).until(() -> jobs.counter("done") == 1);
        jobs.now("a");
        await("done again").atMost(LONG).until(() -> jobs.counter("done") == 2);
        assertThat(runs).hasSize(2);
        assertThat(number("SELECT count(*) FROM effects")).isEqualTo(1);

        try (Connection connection = database.getConnection()) {
            assertThat(handled.forget(connection, "points", "a")).isTrue();
            assertThat(handled.forget(connection, "points", "a")).isFalse();
        }
        jobs.now("a");
        await("done a third time").atMost(LONG).until(() -> jobs.counter("done") == 3);
        assertThat(number("SELECT count(*) FROM effects")).isEqualTo(2);
    }

    @Test
    void shouldLeaveNothingOfAJobThatIsPutOffOrDies() throws Exception {
        workers.start("node", "points", handled.once(database, (connection, payload, job) -> {
            HandledJobsIT.<byte[]>effectOf("node").handle(connection, payload, job);
            if (job.id().equals("dead")) {
                throw Dead.because("no such customer");
            }
            throw Again.after(Duration.ofHours(1));
        }));
        jobs.now("dead");
        jobs.now("later");
        await("it is dead").atMost(LONG).until(() -> jobs.dead() == 1);
        await("it was put off")
                .atMost(LONG)
                .until(() -> jobs.find("later")
                        .filter(status -> status.state() == JobState.PENDING)
                        .map(JobStatus::job)
                        .filter(job -> job.dueAt().toEpochMilli() > jobs.nowMs() + 60_000)
                        .isPresent());
        assertThat(number("SELECT count(*) FROM effects")).isZero();
        assertThat(number("SELECT count(*) FROM minutehand_handled")).isZero();
    }

    @Test
    void shouldHaveNoSecondEffectWhenTheProcessIsKilledBetweenCommitAndAck() throws Exception {
        int count = 5;
        try (JavaProcess process = JavaProcess.start(
                "handled",
                HandledProcess.class,
                Map.of(
                        "TEST_REDIS", SharedRedis.get().uri(),
                        "TEST_NAMESPACE", redis.namespace(),
                        "TEST_POSTGRES", schema.url()))) {
            for (int i = 0; i < count; i++) {
                jobs.now("job-" + i);
            }
            await("the process has made all effects, and acknowledged nothing")
                    .atMost(LONG)
                    .until(() -> {
                        assertThat(process.isAlive())
                                .as(() -> "the process ended: " + process.log())
                                .isTrue();
                        return number("SELECT count(*) FROM effects") == count;
                    });
        }
        Queue<Integer> deliveries = new ConcurrentLinkedQueue<>();
        JobHandler<byte[]> once = handled.once(database, effectOf("survivor"));
        workers.start("survivor", "points", (payload, job) -> {
            once.handle(payload, job);
            deliveries.add(job.delivery());
        });
        await("the survivor has done them").atMost(LONG).until(() -> jobs.counter("done") == count);
        assertThat(deliveries).hasSizeGreaterThanOrEqualTo(count).allMatch(delivery -> delivery >= 2);
        assertThat(number("SELECT count(*) FROM effects WHERE who = 'process'")).isEqualTo(count);
        assertThat(number("SELECT count(*) FROM effects")).isEqualTo(count);
    }

    @Test
    void shouldMakeRunsOfTheSameTimeWaitForEachOther() throws Exception {
        for (boolean commits : new boolean[] {true, false}) {
            String id = "same-" + commits;
            try (Connection one = begin();
                    Connection other = begin()) {
                assertThat(handled.firstTime(one, "points", id)).isTrue();
                long waiter = number(other, "SELECT pg_backend_pid()");
                CompletableFuture<Boolean> answer = CompletableFuture.supplyAsync(() -> {
                    try {
                        return handled.firstTime(other, "points", id);
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                });
                await("the other waits")
                        .atMost(LONG)
                        .until(() -> number("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = " + waiter) > 0);
                assertThat(answer).isNotDone();
                if (commits) {
                    one.commit();
                } else {
                    one.rollback();
                }
                assertThat(answer.get(60, TimeUnit.SECONDS))
                        .as("first time, when the one before commits=%s", commits)
                        .isEqualTo(!commits);
                // The transaction can be used on.
                assertThat(number(other, "SELECT 1")).isEqualTo(1);
                other.commit();
            }
            assertThat(number("SELECT count(*) FROM minutehand_handled WHERE job_id = '" + id + "'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void shouldNotTakeAnotherConstraintForADuplicate() throws Exception {
        List<String> spoilt = List.of(
                "ALTER TABLE minutehand_handled ADD COLUMN region text NOT NULL",
                "ALTER TABLE minutehand_handled ADD CHECK (topic <> 'points')");
        for (String ddl : spoilt) {
            try (Connection connection = begin();
                    Statement statement = connection.createStatement()) {
                statement.execute(ddl);
                assertThatThrownBy(() -> handled.firstTime(connection, "points", "a"))
                        .as(ddl)
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("violates");
                connection.rollback();
            }
        }
    }

    @Test
    void shouldKeepTheRowOfAJobThatIsHandledAnewWhilePruning() throws Exception {
        try (Connection pruning = begin();
                Connection anew = begin();
                Statement statement = anew.createStatement()) {
            for (String id : List.of("a", "b")) {
                statement.execute(
                        "INSERT INTO minutehand_handled VALUES ('t', '" + id + "', now() - interval '3 hours')");
            }
            anew.commit();
            // The prune sees both as old, and waits for one of them.
            statement.execute("DELETE FROM minutehand_handled WHERE job_id = 'a'");
            statement.execute("UPDATE minutehand_handled SET handled_at = now() WHERE job_id = 'b'");
            long waiter = number(pruning, "SELECT pg_backend_pid()");
            pruning.commit();
            CompletableFuture<Integer> pruned = CompletableFuture.supplyAsync(() -> {
                try {
                    int rows = handled.prune(pruning, Duration.ofHours(2), 10);
                    pruning.commit();
                    return rows;
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            await("it waits")
                    .atMost(LONG)
                    .until(() -> number("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = " + waiter) > 0);
            anew.commit();
            assertThat(pruned.get(60, TimeUnit.SECONDS))
                    .as("deleted by the prune")
                    .isZero();
        }
        assertThat(number("SELECT count(*) FROM minutehand_handled WHERE job_id = 'b'"))
                .isOne();
    }

    @Test
    void shouldPruneOldRowsAndNoYoungOnes() throws Exception {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO minutehand_handled SELECT 't', 'old-' || i, now() - interval '3 hours'"
                    + " FROM generate_series(1, 25) i");
            statement.execute("INSERT INTO minutehand_handled SELECT 't', 'young-' || i, now() - interval '1 hour'"
                    + " FROM generate_series(1, 5) i");
            assertThat(handled.prune(connection, Duration.ofHours(2), 10)).isEqualTo(10);
            assertThat(handled.prune(connection, Duration.ofHours(2), 10)).isEqualTo(10);
            assertThat(handled.prune(connection, Duration.ofHours(2), 10)).isEqualTo(5);
            assertThat(handled.prune(connection, Duration.ofHours(2), 10)).isZero();
            assertThat(number("SELECT count(*) FROM minutehand_handled WHERE job_id LIKE 'young-%'"))
                    .isEqualTo(5);
            assertThatThrownBy(() -> handled.prune(connection, Duration.ofMinutes(59), 10))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("age=PT59M");
            assertThatThrownBy(() -> handled.prune(connection, Duration.ofHours(2), 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("limit=0");
        }
    }

    @Test
    void shouldRefuseAutoCommitAndOddNamesAndUseTheTableThatIsGiven() throws Exception {
        try (Connection connection = database.getConnection()) {
            assertThatThrownBy(() -> handled.firstTime(connection, "points", "a"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
            assertThatThrownBy(() -> HandledJobs.inTable("jobs; DROP TABLE effects"))
                    .isInstanceOf(IllegalArgumentException.class);
            HandledJobs other = HandledJobs.inTable(schema.name() + ".seen");
            other.createTable(connection);
            connection.setAutoCommit(false);
            assertThat(other.firstTime(connection, "points", "a")).isTrue();
            assertThat(other.firstTime(connection, "points", "a")).isFalse();
            assertThat(other.firstTime(connection, "others", "a")).isTrue();
            connection.commit();
        }
        assertThat(number("SELECT count(*) FROM seen")).isEqualTo(2);
    }

    private Connection begin() throws SQLException {
        Connection connection = database.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return number(connection, sql);
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}

package io.minutehand.router.outbox;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.JobRouter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** What the tests of outboxes share: a real Redis, in a namespace that nobody used, and a table in a real PostgreSQL. */
final class Outboxes {
    static final String TOPIC = "order.close";
    static final Duration FAR = Duration.ofHours(1);

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private Outboxes() {}

    static RedisOptions redis() {
        return redis(SharedRedis.get());
    }

    /** Patient: on a busy machine no reply counts as lost. */
    static RedisOptions redis(RedisInstance instance) {
        return RedisOptions.of(instance.uri())
                .withNamespace("o" + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet())
                .withReplyTimeout(Duration.ofSeconds(8));
    }

    static JobSpec<byte[]> job(String id) {
        return JobSpec.of(id.getBytes(StandardCharsets.UTF_8)).id(id).after(FAR);
    }

    static ConditionFactory await(String condition) {
        return Awaitility.await(condition).atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(10));
    }

    /** A pool, as applications have one; to be closed before the schema. */
    static HikariDataSource pool(PostgresSchema schema) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(schema.url());
        config.setMaximumPoolSize(5);
        config.setMinimumIdle(0);
        // A busy machine takes long to open one.
        config.setConnectionTimeout(Duration.ofSeconds(60).toMillis());
        return new HikariDataSource(config);
    }

    /** An outbox with its table. */
    static JobOutbox open(JobRouter router, DataSource database, OutboxSettings settings, Steps steps)
            throws SQLException {
        JobOutbox outbox = JobOutbox.open(router, database, settings, steps);
        try (Connection connection = database.getConnection()) {
            outbox.createTable(connection);
        }
        return outbox;
    }

    /** A connection with a transaction. */
    static Connection begin(DataSource database) throws SQLException {
        Connection connection = database.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** Commits jobs and tells nobody, as a process that dies right then. */
    static void commit(JobOutbox outbox, DataSource database, String... ids) throws SQLException {
        try (Connection connection = begin(database)) {
            for (String id : ids) {
                outbox.schedule(connection, TOPIC, job(id));
            }
            connection.commit();
        }
    }

    static long count(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    static long rows(DataSource database) throws SQLException {
        return count(database, "SELECT count(*) FROM minutehand_outbox");
    }

    static int update(DataSource database, String sql, String... values) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    static Optional<JobStatus> find(JobRouter router, String id) {
        return router.topic(TOPIC).find(id).join();
    }

    /** Those of the ids that have a job. */
    static List<String> found(JobRouter router, List<String> ids) {
        List<CompletableFuture<Optional<JobStatus>>> answers =
                ids.stream().map(id -> router.topic(TOPIC).find(id)).toList();
        List<String> found = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            if (answers.get(i).join().isPresent()) {
                found.add(ids.get(i));
            }
        }
        return found;
    }
}

package io.minutehand.worker.jdbc;

import io.minutehand.core.jdbc.TableName;
import io.minutehand.core.jdbc.Transactions;
import io.minutehand.worker.JobContext;
import io.minutehand.worker.JobHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table of the jobs that were handled, written in the same transaction as their effect: so the effect happens once, though the job runs again
 * after a failed attempt, a crash between commit and ack, a lost reply, or because it was scheduled a second time.
 *
 * <p>It is for effects that have no condition of their own, such as "book 10 points". Where a row's state is the condition
 * ({@code UPDATE ... SET status = 'CLOSED' WHERE id = ? AND status = 'WAIT_PAY'}, and 0 rows is no error) that alone is enough.
 *
 * <p><b>Guarantee.</b> Of all runs of a topic's job id the effects of at most one are committed, for as long as its row is there; runs at the same
 * time wait for each other inside the database. A job that fails, is put off or dies leaves no row. What handlers do outside the
 * database is not covered.
 *
 * <p><b>Ids.</b> The key is topic and job id, not the call that scheduled it: a job that comes back after Redis lost everything is the same. Who uses an id
 * again on purpose calls {@link #forget} first. Rows are needed as long as a job can come again: all its retries, and whoever schedules by the
 * state of the database. {@link #prune} deletes older ones.
 *
 * <p>Immutable, thread-safe; connections are the caller's. Works with each database that has savepoints and tells a duplicate key by SQLState
 * 23505 or 23000, and is tested with PostgreSQL.
 */
public final class HandledJobs {
    /** The table's name unless another is given. */
    public static final String TABLE = "minutehand_handled";

    /** No row is pruned that is younger. */
    public static final Duration SHORTEST_AGE = Duration.ofHours(1);

    private static final Logger log = LoggerFactory.getLogger(HandledJobs.class);

    private static final String RESOURCE = "handled.sql";

    /**
     * How databases tell a duplicate key: by the code that SQL has for it, or by its whole class (MySQL, Oracle, SQL Server). The other codes of that
     * class are other constraints, which say nothing of whether the job was handled: a missing partition, or a column that somebody added.
     */
    private static final Set<String> DUPLICATE_KEY = Set.of("23505", "23000");

    private static final int MOST_ROWS = 10_000;

    private final String table;

    private HandledJobs(String table) {
        this.table = table;
    }

    /** With the table {@link #TABLE}, which must be there: see {@link #createTable}. */
    public static HandledJobs inTable() {
        return inTable(TABLE);
    }

    /**
     * With a table of this name.
     *
     * @param table {@code [a-z_][a-z0-9_]*}, at most 50 characters, with or without such a schema before it; it goes into SQL as it stands
     * @throws IllegalArgumentException when it is another
     */
    public static HandledJobs inTable(String table) {
        return new HandledJobs(TableName.require(table));
    }

    /** The SQL (PostgreSQL's) that makes the table and its index if they are not there, for a migration. */
    public String createTableSql() {
        try (InputStream in = Objects.requireNonNull(HandledJobs.class.getResourceAsStream(RESOURCE), RESOURCE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replace(TABLE + "_at", TableName.withoutSchema(table) + "_at")
                    .replace(TABLE + " (", table + " (");
        } catch (IOException e) {
            throw new UncheckedIOException("Reading the resource " + RESOURCE + " failed", e);
        }
    }

    /**
     * Runs {@link #createTableSql()}. Commits nothing unless the connection does so by itself.
     *
     * @throws SQLException as the database throws it
     */
    public void createTable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(createTableSql());
        }
    }

    /**
     * A handler that runs each job in a transaction of its own, and only the first time: {@link #firstTime}, then the effect, then the commit.
     * Where the effect was made before, the job is done. What is thrown rolls back, the row too, and ends the attempt as ever.
     *
     * <p>A database that is away, a pool that has no connection in time and a serialization failure each fail the attempt. So the topic's retry policy
     * should outlast an outage of the database (the default one ends after 55 s, with a dead letter), and its concurrency should not exceed the pool.
     *
     * @param database one connection a running handler is taken from it
     * @param effect makes the effect on that connection
     */
    public <T> JobHandler<T> once(DataSource database, TransactionalHandler<T> effect) {
        Objects.requireNonNull(database, "database");
        Objects.requireNonNull(effect, "effect");
        return (payload, job) -> Transactions.run(database, OptionalInt.empty(), connection -> {
            boolean first = firstTime(connection, job);
            if (first) {
                effect.handle(connection, payload, job);
            } else {
                log.info(
                        "handled before: nothing to do topic={} job={} attempt={} delivery={}",
                        job.topic(),
                        job.id(),
                        job.attempt(),
                        job.delivery());
            }
            return first;
        });
    }

    /**
     * Notes that this job is handled, as part of the caller's transaction. Blocks while another transaction that notes the same is open.
     *
     * @param connection of the transaction, with auto-commit off; it can be used on, whatever the answer is
     * @return true when the effect is to be made now, in this transaction; false when it was made before: there is nothing to do
     * @throws SQLException as the database throws it; the transaction is the caller's to roll back
     * @throws IllegalStateException when the connection is in auto-commit mode
     */
    public boolean firstTime(Connection connection, JobContext job) throws SQLException {
        return firstTime(connection, job.topic(), job.id());
    }

    /** As {@link #firstTime(Connection, JobContext)}, where there is no context. */
    public boolean firstTime(Connection connection, String topic, String id) throws SQLException {
        // Before the database could say so, in a way that is taken for a duplicate.
        Objects.requireNonNull(topic, "topic");
        Objects.requireNonNull(id, "id");
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("the connection is in auto-commit mode, so that job " + id
                    + " would count as handled without its effect; call setAutoCommit(false) first");
        }
        // A duplicate key would end the whole transaction in PostgreSQL.
        Savepoint before = connection.setSavepoint();
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO " + table + " (topic, job_id) VALUES (?, ?)")) {
            insert.setString(1, topic);
            insert.setString(2, id);
            insert.executeUpdate();
            connection.releaseSavepoint(before);
            return true;
        } catch (SQLException e) {
            if (e.getSQLState() == null || !DUPLICATE_KEY.contains(e.getSQLState())) {
                throw e;
            }
            connection.rollback(before);
            return false;
        }
    }

    /**
     * Forgets a job, so that its id can be used again.
     *
     * @return whether it was noted as handled
     * @throws SQLException as the database throws it
     */
    public boolean forget(Connection connection, String topic, String id) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement(deleteSql())) {
            delete.setString(1, topic);
            delete.setString(2, id);
            return delete.executeUpdate() > 0;
        }
    }

    /**
     * Deletes rows, by the database's clock. To be called now and then, again at once while it answers {@code limit}; by one process at a time, for
     * those that meet wait for each other, and each counts only what it deleted itself.
     *
     * @param age how old rows must be, at least {@link #SHORTEST_AGE}; choose longer than any job can come again
     * @param limit rows of this call, 1 to 10,000
     * @return how many were deleted
     * @throws SQLException as the database throws it
     * @throws IllegalArgumentException when age or limit are out of their range
     */
    public int prune(Connection connection, Duration age, int limit) throws SQLException {
        if (age.compareTo(SHORTEST_AGE) < 0) {
            throw new IllegalArgumentException("age=" + age + ", allowed is " + SHORTEST_AGE
                    + " or more: a job whose row is gone has its effect again when it comes again");
        }
        if (limit < 1 || limit > MOST_ROWS) {
            throw new IllegalArgumentException("limit=" + limit + ", allowed are 1 to " + MOST_ROWS);
        }
        try (PreparedStatement select = connection.prepareStatement(
                        "SELECT topic, job_id FROM " + table + " WHERE handled_at < ? ORDER BY handled_at");
                // The age again: a job that was forgotten and handled anew since then has a row that is young.
                PreparedStatement delete = connection.prepareStatement(deleteSql() + " AND handled_at < ?")) {
            Timestamp before = Timestamp.from(now(connection).minus(age));
            select.setTimestamp(1, before);
            select.setMaxRows(limit);
            int rows = 0;
            try (ResultSet old = select.executeQuery()) {
                while (old.next()) {
                    delete.setString(1, old.getString(1));
                    delete.setString(2, old.getString(2));
                    delete.setTimestamp(3, before);
                    delete.addBatch();
                    rows++;
                }
            }
            return rows == 0 ? 0 : deleted(delete.executeBatch());
        }
    }

    private static int deleted(int[] counts) {
        return Arrays.stream(counts)
                .map(count -> count == Statement.SUCCESS_NO_INFO ? 1 : count)
                .sum();
    }

    private String deleteSql() {
        return "DELETE FROM " + table + " WHERE topic = ? AND job_id = ?";
    }

    private static Instant now(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT CURRENT_TIMESTAMP")) {
            row.next();
            return row.getTimestamp(1).toInstant();
        }
    }

    @Override
    public String toString() {
        return "HandledJobs[table=" + table + "]";
    }
}

package io.minutehand.router.outbox;

import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.TopicName;
import io.minutehand.router.JobRouter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Schedules jobs together with a database transaction: the job exists if, and only if, the transaction commits.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * insertOrder(connection, order);
 * OutboxJob job = outbox.schedule(connection, "order.close.timeout", spec);
 * connection.commit();
 * job.committed();
 * }</pre>
 *
 * <p><b>How.</b> {@link #schedule} inserts a row into a table of the same database. After the commit the row's job is scheduled and the row deleted:
 * at once, after {@link OutboxJob#committed()}, and by an {@link OutboxRelay}, of which at least one must run somewhere, if a process died or
 * Redis was away in between. Nobody can schedule the job of a transaction that has not committed: who schedules reads the row from the table, on a
 * connection of its own.
 *
 * <p><b>Guarantee.</b> A committed job is scheduled at least once, a rolled-back one never. Each schedule of a row is the same request with the same
 * id, so Redis stores it once; it can be stored again only if the row's first job ended longer ago than the topic's retention (60 s by
 * default) before the row could be deleted, which takes a crash or a lost database in between. As ever, handlers must bear a second run.
 *
 * <p><b>Time.</b> A delay counts from the database's {@code CURRENT_TIMESTAMP}, in PostgreSQL the time at which the transaction began: it ends when
 * {@code created_at + delay} of a row that was inserted beside it says so, and not later because Redis was away.
 *
 * <p><b>Cancel.</b> Until its row is in Redis a job is not there to be cancelled or moved: {@code cancel} answers NOT_FOUND, and the job runs when it
 * is due. So a handler looks at the state of the database, as it must anyway.
 *
 * <p>Thread-safe; one a process and table is enough. Does not close the router or the data source, and is to be closed before them.
 */
public final class JobOutbox implements AutoCloseable {
    private final JobRouter router;
    private final OutboxSettings settings;
    private final OutboxTable table;
    private final OutboxPass pass;
    private final DirectLane lane;

    private JobOutbox(JobRouter router, DataSource database, OutboxSettings settings, Steps steps) {
        this.router = router;
        this.settings = settings;
        this.table = new OutboxTable(settings.table());
        this.pass = new OutboxPass(router, database, table, steps);
        this.lane = new DirectLane(pass, settings);
    }

    /** With the default settings; see {@link #open(JobRouter, DataSource, OutboxSettings)}. */
    public static JobOutbox open(JobRouter router, DataSource database) {
        return open(router, database, OutboxSettings.defaults());
    }

    /**
     * Opens an outbox; the table must be there, see {@link #createTable}. Connects to nothing yet.
     *
     * @param router schedules the jobs
     * @param database where the table is; at most one connection at a time is taken from it, and one by each relay, for as long as Redis takes to
     *     answer, at most the router's deadline; whatever isolation it comes with, it is used with READ COMMITTED
     */
    public static JobOutbox open(JobRouter router, DataSource database, OutboxSettings settings) {
        return open(router, database, settings, Steps.NONE);
    }

    static JobOutbox open(JobRouter router, DataSource database, OutboxSettings settings, Steps steps) {
        return new JobOutbox(
                Objects.requireNonNull(router, "router"),
                Objects.requireNonNull(database, "database"),
                Objects.requireNonNull(settings, "settings"),
                steps);
    }

    /** The SQL (PostgreSQL's) that makes this outbox's table and its index if they are not there, for a migration. */
    public String createTableSql() {
        return table.createSql();
    }

    /**
     * Runs {@link #createTableSql()}. Commits nothing unless the connection does so by itself.
     *
     * @throws SQLException as the database throws it
     */
    public void createTable(Connection connection) throws SQLException {
        table.create(connection);
    }

    /**
     * Writes a job into the table, inside the caller's transaction. Nothing is scheduled before that commits: then call
     * {@link OutboxJob#committed()}.
     *
     * @param connection of the transaction, with auto-commit off; it is used on this thread and not kept
     * @throws SQLException as the database throws it; the transaction is the caller's to roll back
     * @throws IllegalArgumentException when topic or job are beyond a limit, the business id holds U+0000, or the job is {@code replacing()}: nothing
     *     was written
     * @throws IllegalStateException when the connection is in auto-commit mode: nothing was written
     */
    public OutboxJob schedule(Connection connection, String topic, JobSpec<?> spec) throws SQLException {
        TopicName.require(topic);
        JobSpec<byte[]> encoded = router.encoded(spec);
        if (spec.isReplacing()) {
            throw new IllegalArgumentException("job " + spec.id()
                    + " is replacing(), which an outbox cannot keep: a row that is scheduled again after a crash would "
                    + "take the place of a newer job; schedule it with the router, after the commit");
        }
        String businessId = spec.businessId();
        if (businessId != null && businessId.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "business id of job " + spec.id() + " holds U+0000, which databases do not store in text");
        }
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("the connection is in auto-commit mode, so that the job would be committed "
                    + "without what belongs to it; call setAutoCommit(false) first");
        }
        String given = encoded.id();
        String id = given == null ? JobId.random() : given;
        OutboxTable.Row row = new OutboxTable.Row(
                JobId.random(),
                topic,
                id,
                encoded.businessId(),
                dueAtMs(connection, encoded.dueAt(), encoded.delay()),
                OutboxTable.headersToJson(encoded.headers()),
                encoded.payload());
        table.insert(connection, row);
        return new OutboxJob(lane, row.rowId(), topic, id);
    }

    /** The due time in epoch ms, rounded up: never early. Both ways to Redis take it from the row, so that they are one request. */
    private long dueAtMs(Connection connection, @Nullable Instant dueAt, @Nullable Duration delay) throws SQLException {
        Instant due = dueAt != null
                ? dueAt
                : table.now(connection).plus(delay == null || delay.isNegative() ? Duration.ZERO : delay);
        return due.getEpochSecond() < 0 ? 0 : due.plusNanos(999_999).toEpochMilli();
    }

    /** What was done after {@link OutboxJob#committed()}. */
    public OutboxStats stats() {
        return lane.stats();
    }

    OutboxSettings settings() {
        return settings;
    }

    OutboxPass pass() {
        return pass;
    }

    /** Ends the thread that schedules committed jobs; what waits for it is left to a relay. Calling it again does nothing. */
    @Override
    public void close() {
        lane.close();
    }
}

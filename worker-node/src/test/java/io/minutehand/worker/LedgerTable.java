package io.minutehand.worker;

import io.minutehand.core.job.JobSpec;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.worker.reconcile.KeyColumn;
import io.minutehand.worker.reconcile.Row;
import io.minutehand.worker.reconcile.RowQuery;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;

/** A table of orders of which those that are open should have a job: {@code order:<id>}, due at {@code due_at}. */
final class LedgerTable {
    private final PostgresSchema schema;

    LedgerTable(PostgresSchema schema) {
        this.schema = schema;
        run(
                "CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, status text NOT NULL, due_at timestamptz NOT NULL)");
        run("TRUNCATE orders");
    }

    /** Adds open orders, due at this time. */
    void add(int fromId, int toId, long dueMs) {
        run(String.format(
                Locale.ROOT,
                "INSERT INTO orders SELECT n, 'WAIT_PAY', to_timestamp(%d / 1000.0) FROM generate_series(%d, %d) n",
                dueMs,
                fromId,
                toId));
    }

    void run(String sql) {
        try (Connection connection = schema.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** What is open and due by the time that is given. */
    static RowQuery open() {
        return RowQuery.of(
                        "SELECT id, due_at, pg_backend_pid() AS backend FROM orders WHERE status = ? AND due_at < ?",
                        KeyColumn.number("id"))
                .parameters(until -> List.of("WAIT_PAY", until.atOffset(ZoneOffset.UTC)));
    }

    static String idOf(long order) {
        return "order:" + order;
    }

    static JobSpec<byte[]> jobOf(Row row) throws SQLException {
        return JobSpec.of(new byte[] {1}).id(idOf(row.number("id"))).at(row.instant("due_at"));
    }
}

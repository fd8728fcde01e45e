package io.minutehand.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.worker.reconcile.KeyColumn;
import io.minutehand.worker.reconcile.RowQuery;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The tables of the shop, and all SQL that knows them.
 *
 * <p>An order leaves WAIT_PAY by a conditional UPDATE, and the same statement appends to {@code effects} if, and only if, that changed a row.
 * {@code effects} only ever grows and has no unique key: whatever happened twice stands there twice. Thread-safe.
 */
final class OrderStore {
    private static final long POOL_WAIT_MS = TimeUnit.SECONDS.toMillis(5);

    private static final String TABLES = """
            CREATE TABLE IF NOT EXISTS orders (
              id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              item text NOT NULL,
              price_cents bigint NOT NULL,
              status text NOT NULL DEFAULT 'WAIT_PAY' CHECK (status IN ('WAIT_PAY', 'PAID', 'CLOSED')),
              created_at timestamptz NOT NULL,
              due_at timestamptz NOT NULL
            );
            CREATE INDEX IF NOT EXISTS orders_open ON orders (id) WHERE status = 'WAIT_PAY';
            CREATE TABLE IF NOT EXISTS effects (
              order_id bigint NOT NULL,
              what text NOT NULL CHECK (what IN ('PAID', 'CLOSED')),
              at timestamptz NOT NULL DEFAULT clock_timestamp(),
              by_whom text NOT NULL
            );
            CREATE INDEX IF NOT EXISTS effects_of_order ON effects (order_id);
            CREATE OR REPLACE FUNCTION effects_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              RAISE EXCEPTION 'effects is append-only';
            END $$;
            DROP TRIGGER IF EXISTS effects_only_grow ON effects;
            CREATE TRIGGER effects_only_grow BEFORE UPDATE OR DELETE OR TRUNCATE ON effects
              FOR EACH STATEMENT EXECUTE FUNCTION effects_only_grow();
            """;

    /** Whole milliseconds, as jobs have them: service and reconciler ask for the same job. */
    private static final String INSERT = """
            INSERT INTO orders (item, price_cents, created_at, due_at)
            VALUES (?, ?, CURRENT_TIMESTAMP, date_trunc('milliseconds', CURRENT_TIMESTAMP) + ? * interval '1 millisecond')
            RETURNING id, item, price_cents, status, created_at, due_at, CAST(NULL AS timestamptz) AS ended_at
            """;

    private static final String PAY = endingAs("PAID");
    private static final String CLOSE = endingAs("CLOSED");

    private static final String BALANCE = """
            WITH ends AS (
              SELECT order_id,
                count(*) FILTER (WHERE what = 'PAID') AS paid,
                count(*) FILTER (WHERE what = 'CLOSED') AS closed,
                max(at) FILTER (WHERE what = 'CLOSED') AS closed_at
              FROM effects GROUP BY order_id
            )
            SELECT
              count(id) AS created,
              coalesce(sum(paid), 0) AS paid,
              coalesce(sum(closed), 0) AS closed,
              count(*) FILTER (WHERE status = 'WAIT_PAY') AS open,
              count(*) FILTER (WHERE
                coalesce(closed_at, CASE WHEN status = 'WAIT_PAY' THEN clock_timestamp() END)
                  > due_at + ? * interval '1 millisecond') AS late,
              count(*) FILTER (WHERE paid > 0 AND closed > 0) AS both_ways,
              count(*) FILTER (WHERE paid > 1 OR closed > 1) AS repeated,
              count(*) FILTER (WHERE id IS NULL
                OR (status = 'PAID') <> (coalesce(paid, 0) > 0)
                OR (status = 'CLOSED') <> (coalesce(closed, 0) > 0)) AS contradicted,
              1000 * extract(epoch FROM percentile_disc(0.5) WITHIN GROUP (ORDER BY closed_at - due_at)) AS close_p50_ms,
              1000 * extract(epoch FROM percentile_disc(0.99) WITHIN GROUP (ORDER BY closed_at - due_at)) AS close_p99_ms,
              1000 * extract(epoch FROM max(closed_at - due_at)) AS close_max_ms,
              clock_timestamp() AS taken_at
            FROM orders FULL JOIN ends ON order_id = id
            """;

    private final DataSource database;

    OrderStore(DataSource database) {
        this.database = database;
    }

    /**
     * A pool of connections.
     *
     * @param url JDBC URL with credentials, which appear in no log
     * @param size connections at most; whoever gets none within 5 s fails
     */
    static HikariDataSource pool(String url, int size, String name) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(POOL_WAIT_MS);
        config.setPoolName(name);
        return new HikariDataSource(config);
    }

    private static String endingAs(String status) {
        return """
                WITH changed AS (
                  UPDATE orders SET status = '%1$s' WHERE id = ? AND status = 'WAIT_PAY' RETURNING id
                )
                INSERT INTO effects (order_id, what, by_whom) SELECT id, '%1$s', ? FROM changed
                """.formatted(status);
    }

    /** Makes the tables if they are not there, in the caller's transaction. */
    void createTables(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(TABLES);
        }
    }

    /** Makes an open order in the caller's transaction. */
    Order insert(Connection connection, Item item, Duration delay) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, item.title());
            insert.setLong(2, item.priceCents());
            insert.setLong(3, delay.toMillis());
            return one(insert, OrderStore::order);
        }
    }

    /**
     * Pays an order, in a transaction of its own.
     *
     * @return false when it was not open, and nothing was changed
     */
    boolean pay(long orderId) throws SQLException {
        return end(PAY, orderId, "shop");
    }

    /** Closes an order, in a transaction of its own; false as for {@link #pay}. */
    boolean close(long orderId, String byWhom) throws SQLException {
        return end(CLOSE, orderId, byWhom);
    }

    private boolean end(String sql, long orderId, String byWhom) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, orderId);
            statement.setString(2, byWhom);
            return statement.executeUpdate() == 1;
        }
    }

    /** The order of an id, or null. */
    @Nullable
    Order find(long orderId) throws SQLException {
        List<Order> found = orders("WHERE id = ?", orderId);
        return found.isEmpty() ? null : found.get(0);
    }

    /** The newest orders, at most so many. */
    List<Order> newest(int limit) throws SQLException {
        return orders("ORDER BY id DESC LIMIT ?", limit);
    }

    private List<Order> orders(String which, long parameter) throws SQLException {
        String sql = "SELECT id, item, price_cents, status, created_at, due_at,"
                + " (SELECT max(at) FROM effects WHERE order_id = id) AS ended_at FROM orders " + which;
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, parameter);
            try (ResultSet rows = statement.executeQuery()) {
                List<Order> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(order(rows));
                }
                return found;
            }
        }
    }

    /** How many orders are open. */
    long open() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT count(*) FROM orders WHERE status = 'WAIT_PAY'")) {
            return one(statement, row -> row.getLong(1));
        }
    }

    /** By how much the clock of the database is ahead of that of this process, as far as one question tells. */
    Duration clockAhead() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT clock_timestamp()")) {
            Instant asked = Instant.now();
            Instant there = one(statement, row -> instant(row, "clock_timestamp"));
            return Duration.between(
                    asked.plus(Duration.between(asked, Instant.now()).dividedBy(2)), there);
        }
    }

    /**
     * Reads the balance, by one statement and so of one moment.
     *
     * @param grace how long past its time an order may be open
     */
    Balance balance(Duration grace) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement = connection.prepareStatement(BALANCE)) {
            statement.setLong(1, grace.toMillis());
            return one(statement, row -> balance(row, grace));
        }
    }

    private static Balance balance(ResultSet row, Duration grace) throws SQLException {
        return new Balance(
                instant(row, "taken_at"),
                grace,
                row.getLong("created"),
                row.getLong("paid"),
                row.getLong("closed"),
                row.getLong("open"),
                row.getLong("late"),
                row.getLong("both_ways"),
                row.getLong("repeated"),
                row.getLong("contradicted"),
                new Balance.Lateness(
                        row.getDouble("close_p50_ms"), row.getDouble("close_p99_ms"), row.getDouble("close_max_ms")));
    }

    /** Which orders should have a job: those that are open. By id, on the index of those alone. */
    static RowQuery openByDueTime() {
        return RowQuery.of(
                        "SELECT id, due_at FROM orders WHERE status = 'WAIT_PAY' AND due_at < ?",
                        KeyColumn.number("id"))
                .parameters(until -> List.of(until.atOffset(ZoneOffset.UTC)));
    }

    private static Order order(ResultSet row) throws SQLException {
        Timestamp ended = row.getTimestamp("ended_at");
        return new Order(
                row.getLong("id"),
                row.getString("item"),
                row.getLong("price_cents"),
                Order.Status.valueOf(row.getString("status")),
                instant(row, "created_at"),
                instant(row, "due_at"),
                ended == null ? null : ended.toInstant());
    }

    private static Instant instant(ResultSet row, String column) throws SQLException {
        return row.getTimestamp(column).toInstant();
    }

    private interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    private static <T> T one(PreparedStatement query, RowReader<T> reader) throws SQLException {
        try (ResultSet rows = query.executeQuery()) {
            if (!rows.next()) {
                throw new SQLException("the database answered no row to: " + query);
            }
            return reader.read(rows);
        }
    }
}

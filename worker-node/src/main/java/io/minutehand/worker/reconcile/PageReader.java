package io.minutehand.worker.reconcile;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the rows of a query page by page, in the order of its key columns, each page in a read-only transaction of its own. It asks for one row more
 * than a page has: that tells whether there is another page, and whether two rows of one key lie on both sides of its end. Used by one thread, but for
 * {@link #cancel}.
 */
final class PageReader {
    private static final Logger log = LoggerFactory.getLogger(PageReader.class);

    /** Bytes of jobs after which a page ends: what a reconciliation holds in memory. */
    static final long PAGE_BYTES = 4L * 1024 * 1024;

    /** A page whose rows take longer than this to be fetched and mapped ends, so that its jobs are written while the rows are fresh. */
    private static final long FETCH_NS = TimeUnit.SECONDS.toNanos(5);

    /** Takes the rows of a page. */
    interface Taker {
        /**
         * Called for each row.
         *
         * @param key the row's key, for people
         * @return bytes that are kept of it
         */
        long take(Row row, String key);
    }

    /**
     * A page.
     *
     * @param rows how many rows it had
     * @param last the key of the last of them; what the page began after if there was none
     * @param more whether there are further rows
     */
    record Page(int rows, @Nullable List<String> last, boolean more) {}

    private final DataSource database;
    private final RowQuery query;
    private final int pageSize;
    private final int fetchSize;
    private final int timeoutS;
    private final long fetchNs;
    private boolean nullsRuledOut;
    private boolean cursorTried;
    private volatile @Nullable Statement running;

    PageReader(DataSource database, RowQuery query, ReconcilerSettings settings) {
        this(database, query, settings, FETCH_NS);
    }

    PageReader(DataSource database, RowQuery query, ReconcilerSettings settings, long fetchNs) {
        this.database = database;
        this.query = query;
        this.pageSize = settings.rowsOfAPage();
        this.fetchSize = settings.fetchSize();
        Duration timeout = settings.queryTimeout();
        this.timeoutS = (int) (timeout.getNano() == 0 ? timeout.toSeconds() : timeout.toSeconds() + 1);
        this.fetchNs = fetchNs;
    }

    /**
     * Reads the page after a key.
     *
     * @throws UnusableQueryException when key columns are null, or not unique
     */
    Page read(@Nullable List<String> after, Instant until, Taker taker) throws SQLException {
        try (Connection connection = database.getConnection()) {
            boolean readOnly = connection.isReadOnly();
            boolean autoCommit = connection.getAutoCommit();
            connection.setReadOnly(true);
            // Drivers fetch row by row in a transaction only.
            connection.setAutoCommit(false);
            try {
                ruleNullsOut(connection, until);
                Page page = read(connection, after, until, taker);
                tryCursor(connection, page.last(), until);
                return page;
            } finally {
                restore(connection, readOnly, autoCommit);
            }
        }
    }

    private static void restore(Connection connection, boolean readOnly, boolean autoCommit) {
        try {
            connection.rollback();
            connection.setAutoCommit(autoCommit);
            connection.setReadOnly(readOnly);
        } catch (SQLException broken) {
            // Nothing was written, and whoever lent the connection finds out that it is broken.
            log.debug("reconcile: a connection could not be given back as it was", broken);
        }
    }

    /**
     * A null is neither below nor above a cursor: rows with one in a key column would be left out wherever nulls come last. Looked for once, as it
     * may take as long as a pass where the database does not know that the columns are never null.
     */
    private void ruleNullsOut(Connection connection, Instant until) throws SQLException {
        if (nullsRuledOut) {
            return;
        }
        boolean found = query(connection, query.nullsSql(), query.parametersFor(until), 1, ResultSet::next);
        if (found) {
            throw new UnusableQueryException("one of the key columns " + query.keys()
                    + " is null in some rows, which would be left out; key columns must not be null");
        }
        nullsRuledOut = true;
    }

    /** Finds out with the first row, not with the first second page, in months perhaps, that the database does not compare a key column with its {@link KeyColumn}. */
    private void tryCursor(Connection connection, @Nullable List<String> last, Instant until) throws SQLException {
        if (cursorTried || last == null) {
            return;
        }
        query(connection, query.sql(true, 1), values(last, until), 1, ResultSet::next);
        cursorTried = true;
    }

    private Page read(Connection connection, @Nullable List<String> after, Instant until, Taker taker)
            throws SQLException {
        return query(
                connection,
                query.sql(after != null, pageSize + 1),
                values(after, until),
                Math.min(fetchSize, pageSize + 1),
                rows -> take(rows, after, taker));
    }

    /** Takes a result. */
    private interface Result<T> {
        T of(ResultSet rows) throws SQLException;
    }

    private <T> T query(Connection connection, String sql, List<?> values, int fetched, Result<T> result)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(sql, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            statement.setQueryTimeout(timeoutS);
            statement.setFetchSize(fetched);
            int at = 0;
            for (Object value : values) {
                statement.setObject(++at, value);
            }
            running = statement;
            try (ResultSet rows = statement.executeQuery()) {
                return result.of(rows);
            } finally {
                running = null;
            }
        }
    }

    private List<Object> values(@Nullable List<String> after, Instant until) {
        List<Object> values = new ArrayList<>(query.parametersFor(until));
        if (after != null) {
            values.addAll(query.cursorValues(after));
        }
        return values;
    }

    private Page take(ResultSet rows, @Nullable List<String> after, Taker taker) throws SQLException {
        long beganNs = System.nanoTime();
        List<String> last = after;
        List<String> previous = null;
        long bytes = 0;
        int taken = 0;
        while (rows.next()) {
            List<String> key = new ArrayList<>(query.keys().size());
            for (KeyColumn<?> column : query.keys()) {
                key.add(column.textOf(rows));
            }
            if (previous == null && key.equals(after)) {
                throw new UnusableQueryException(
                        "key columns " + query.keys() + " lose a part of their values: the row "
                                + "of " + key
                                + " comes again behind itself, and a page could end there for ever; use a KeyColumn "
                                + "of the columns' types");
            }
            if (key.equals(previous)) {
                throw new UnusableQueryException(
                        "key columns " + query.keys() + " are not unique, several rows have " + key
                                + ", and rows at the end of a page could be left out; add a column that tells them apart");
            }
            boolean full = taken == pageSize || bytes >= PAGE_BYTES;
            if (full || (taken > 0 && System.nanoTime() - beganNs > fetchNs)) {
                return new Page(taken, last, true);
            }
            Row row = new Row(rows);
            try {
                bytes += taker.take(row, String.join(",", key));
            } finally {
                row.passed();
            }
            taken++;
            last = key;
            previous = key;
        }
        return new Page(taken, last, false);
    }

    /** Asks the database to give up the query that runs, if one does; from any thread. */
    void cancel() {
        Statement statement = running;
        if (statement != null) {
            try {
                statement.cancel();
            } catch (SQLException ignored) {
                log.debug("reconcile: a query could not be cancelled", ignored);
            }
        }
    }
}

package io.minutehand.core.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalInt;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs work in transactions of its own, on connections that go back to their pool as they came. */
public final class Transactions {
    private static final Logger log = LoggerFactory.getLogger(Transactions.class);

    private Transactions() {}

    /** What is done in a transaction. */
    public interface Work<R, E extends Exception> {
        /** Uses the connection, and neither commits nor keeps it. */
        R in(Connection connection) throws SQLException, E;
    }

    /**
     * Runs work in a transaction and commits it; whatever is thrown rolls it back.
     *
     * @param isolation one of {@link Connection}'s, or empty for the one that connections come with
     * @throws SQLException as the database throws it
     * @throws E as the work throws it
     */
    public static <R, E extends Exception> R run(DataSource database, OptionalInt isolation, Work<R, E> work)
            throws SQLException, E {
        try (Connection connection = database.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            // Asked only where it matters: that costs a round trip.
            OptionalInt came = isolation.isEmpty() ? isolation : OptionalInt.of(connection.getTransactionIsolation());
            OptionalInt back = came.equals(isolation) ? OptionalInt.empty() : came;
            if (back.isPresent()) {
                connection.setTransactionIsolation(isolation.getAsInt());
            }
            connection.setAutoCommit(false);
            boolean committed = false;
            try {
                R result = work.in(connection);
                connection.commit();
                committed = true;
                restore(connection, autoCommit, back);
                return result;
            } finally {
                if (!committed) {
                    rollBack(connection, autoCommit, back);
                }
            }
        }
    }

    private static void rollBack(Connection connection, boolean autoCommit, OptionalInt isolation) {
        try {
            connection.rollback();
            // Not if that failed: switching auto-commit on would commit.
            restore(connection, autoCommit, isolation);
        } catch (SQLException e) {
            // The connection is lost, and with it the transaction; what was thrown before says more.
            log.debug("rollback failed", e);
        }
    }

    private static void restore(Connection connection, boolean autoCommit, OptionalInt isolation) throws SQLException {
        connection.setAutoCommit(autoCommit);
        if (isolation.isPresent()) {
            connection.setTransactionIsolation(isolation.getAsInt());
        }
    }
}

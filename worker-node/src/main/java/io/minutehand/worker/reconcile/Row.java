package io.minutehand.worker.reconcile;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A row of a query, for as long as a {@link RowMapping} looks at it. Columns are named as in the result. Used by one thread. */
public final class Row {
    private @Nullable ResultSet current;

    Row(ResultSet current) {
        this.current = current;
    }

    /**
     * A whole number.
     *
     * @throws IllegalStateException when the column is null
     */
    public long number(String column) throws SQLException {
        long value = row().getLong(column);
        if (row().wasNull()) {
            throw nullIn(column);
        }
        return value;
    }

    /**
     * A text.
     *
     * @throws IllegalStateException when the column is null
     */
    public String text(String column) throws SQLException {
        String value = row().getString(column);
        if (value == null) {
            throw nullIn(column);
        }
        return value;
    }

    /**
     * The instant of a timestamp with time zone; of one without a zone, by the time zone of this JVM.
     *
     * @throws IllegalStateException when the column is null
     */
    public Instant instant(String column) throws SQLException {
        Timestamp value = row().getTimestamp(column);
        if (value == null) {
            throw nullIn(column);
        }
        return value.toInstant();
    }

    /** Whether a column is null. */
    public boolean isNull(String column) throws SQLException {
        return row().getObject(column) == null;
    }

    /** A value of a type that the driver knows, or null. */
    public <T> @Nullable T get(String column, Class<T> type) throws SQLException {
        return row().getObject(column, type);
    }

    private ResultSet row() {
        ResultSet row = current;
        if (row == null) {
            throw new IllegalStateException("a row is read after its mapping has returned; take its values before");
        }
        return row;
    }

    private static IllegalStateException nullIn(String column) {
        return new IllegalStateException("column " + column + " is null; ask isNull(column), or get(column, type)");
    }

    void passed() {
        current = null;
    }
}

package io.minutehand.worker.reconcile;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which rows should have a job: a SELECT, and the columns that tell its rows apart.
 *
 * <p>The SELECT says nothing of pages. It is read page by page by its key columns, {@code SELECT * FROM (...) WHERE key > ? ORDER BY key FETCH
 * FIRST n ROWS ONLY}, which makes no row slower to find the further it is down, if an index leads by the key columns (or few rows qualify). So order,
 * cursor and limit cannot contradict each other. Key columns must be unique together and never null: a page in which they are not ends the pass
 * with an error instead of leaving rows out. Immutable, thread-safe.
 */
public final class RowQuery {
    /** How the database is told how many rows to return at most. */
    public enum RowLimit {
        /** {@code FETCH FIRST n ROWS ONLY}, standard SQL: PostgreSQL, Oracle, Db2, MariaDB, H2, Derby. */
        FETCH_FIRST("FETCH FIRST %d ROWS ONLY"),
        /** {@code LIMIT n}: MySQL, SQLite, PostgreSQL, MariaDB, H2. */
        LIMIT("LIMIT %d");

        private final String form;

        RowLimit(String form) {
            this.form = form;
        }

        String sql(int rows) {
            return String.format(java.util.Locale.ROOT, form, rows);
        }
    }

    private final String select;
    private final List<KeyColumn<?>> keys;
    private final Function<Instant, List<?>> parameters;
    private final RowLimit limit;

    private RowQuery(String select, List<KeyColumn<?>> keys, Function<Instant, List<?>> parameters, RowLimit limit) {
        this.select = select;
        this.keys = keys;
        this.parameters = parameters;
        this.limit = limit;
    }

    /**
     * A SELECT without parameters.
     *
     * @param select a SELECT without a semicolon; its result has the key columns
     * @param first the first key column
     * @param more further ones, in the order of the index
     * @throws IllegalArgumentException when the SELECT is empty or holds a semicolon at its end, or a key column is named twice
     */
    public static RowQuery of(String select, KeyColumn<?> first, KeyColumn<?>... more) {
        String trimmed = Objects.requireNonNull(select, "select").strip();
        if (trimmed.isEmpty() || trimmed.endsWith(";")) {
            throw new IllegalArgumentException(
                    "the query is empty or ends with a semicolon; it becomes a part of another: " + trimmed);
        }
        List<KeyColumn<?>> keys = java.util.stream.Stream.concat(
                        java.util.stream.Stream.of(first), java.util.Arrays.stream(more))
                .collect(Collectors.toUnmodifiableList());
        if (keys.stream()
                        .map(key -> key.name().toLowerCase(java.util.Locale.ROOT))
                        .distinct()
                        .count()
                < keys.size()) {
            throw new IllegalArgumentException("key columns " + keys + " name one twice");
        }
        return new RowQuery(trimmed, keys, until -> List.of(), RowLimit.FETCH_FIRST);
    }

    /**
     * The same with values for its question marks.
     *
     * @param values given the time until which jobs are looked after (now, by the clock of Redis, and the look-ahead), returns the values in the order
     *     of the question marks; called before each page, on the reconciler's thread. Bound by {@link
     *     java.sql.PreparedStatement#setObject(int, Object)}: an instant as {@code until.atOffset(ZoneOffset.UTC)}
     */
    public RowQuery parameters(Function<Instant, List<?>> values) {
        return new RowQuery(select, keys, Objects.requireNonNull(values, "values"), limit);
    }

    /** The same for a database that is told a limit in another way; {@link RowLimit#FETCH_FIRST} by default. */
    public RowQuery limitedBy(RowLimit value) {
        return new RowQuery(select, keys, parameters, Objects.requireNonNull(value, "limit"));
    }

    List<KeyColumn<?>> keys() {
        return keys;
    }

    List<?> parametersFor(Instant until) {
        return Objects.requireNonNull(parameters.apply(until), "parameters of the query");
    }

    /**
     * The SQL of a page.
     *
     * @param after whether rows up to a key are left out
     */
    String sql(boolean after, int rows) {
        String order = keys.stream().map(RowQuery::column).collect(Collectors.joining(", "));
        return "SELECT * FROM (\n" + select + "\n) minutehand_rows" + (after ? " WHERE " + beyond() : "") + " ORDER BY "
                + order + " " + limit.sql(rows);
    }

    /** The SQL that finds a row of which a key column is null. */
    String nullsSql() {
        String isNull = keys.stream().map(key -> column(key) + " IS NULL").collect(Collectors.joining(" OR "));
        return "SELECT * FROM (\n" + select + "\n) minutehand_rows WHERE " + isNull + " " + limit.sql(1);
    }

    /** {@code a >= ? AND (a > ? OR (a = ? AND b > ?))}: the first part, which the rest implies, is what an index is searched by. */
    private String beyond() {
        if (keys.size() == 1) {
            return column(keys.get(0)) + " > ?";
        }
        StringBuilder text = new StringBuilder(column(keys.get(0))).append(" >= ? AND (");
        for (int last = 0; last < keys.size(); last++) {
            text.append(last == 0 ? "" : " OR (");
            for (int i = 0; i < last; i++) {
                text.append(column(keys.get(i))).append(" = ? AND ");
            }
            text.append(column(keys.get(last))).append(" > ?").append(last == 0 ? "" : ")");
        }
        return text.append(")").toString();
    }

    /** The values for the question marks that {@link #sql} adds, in order. */
    List<Object> cursorValues(List<String> after) {
        List<Object> values = new java.util.ArrayList<>();
        if (keys.size() > 1) {
            values.add(keys.get(0).valueOf(after.get(0)));
        }
        for (int last = 0; last < keys.size(); last++) {
            for (int i = 0; i <= last; i++) {
                values.add(keys.get(i).valueOf(after.get(i)));
            }
        }
        return values;
    }

    /** Tells this query from others: a place in the rows of one means nothing in those of another. */
    String fingerprint() {
        String text = select + "\n" + keys;
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Whether this is a place in the rows of this query. */
    boolean canRead(@Nullable List<String> cursor) {
        if (cursor == null) {
            return true;
        }
        try {
            return cursor.size() == keys.size() && !cursorValues(cursor).isEmpty();
        } catch (RuntimeException notOfThisType) {
            return false;
        }
    }

    private static String column(KeyColumn<?> key) {
        return "minutehand_rows." + key.name();
    }
}

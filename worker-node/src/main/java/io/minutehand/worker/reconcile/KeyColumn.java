package io.minutehand.worker.reconcile;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A column of a query by which it is read page by page: together with the other key columns it tells each row from all others, is never null, and
 * has an order in the database. Immutable, thread-safe.
 *
 * @param <T> the column's type in Java
 */
public final class KeyColumn<T> {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    /**
     * Reads a value.
     *
     * @param <T> its type
     */
    @FunctionalInterface
    public interface Reader<T> {
        /** The value of the column, null if it is null there. */
        @Nullable
        T read(ResultSet row, String column) throws SQLException;
    }

    private final String name;
    private final Reader<T> reader;
    private final Function<T, String> write;
    private final Function<String, T> parse;

    private KeyColumn(String name, Reader<T> reader, Function<T, String> write, Function<String, T> parse) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("key column \"" + name + "\" is not " + NAME
                    + ": it becomes a part of the SQL; give the column an alias");
        }
        this.name = name;
        this.reader = Objects.requireNonNull(reader, "reader");
        this.write = Objects.requireNonNull(write, "write");
        this.parse = Objects.requireNonNull(parse, "parse");
    }

    /**
     * A column of another type.
     *
     * @param name its name in the result of the query
     * @param reader reads it
     * @param write a value as text, exactly, or the pass ends with an error: the text of the last row of a page is kept in Redis
     * @param parse the value of such a text; it is bound by {@link java.sql.PreparedStatement#setObject(int, Object)}
     * @throws IllegalArgumentException when the name is not {@code [A-Za-z_][A-Za-z0-9_]{0,62}}
     */
    public static <T> KeyColumn<T> of(
            String name, Reader<T> reader, Function<T, String> write, Function<String, T> parse) {
        return new KeyColumn<>(name, reader, write, parse);
    }

    private static <T> KeyColumn<T> typed(String name, Class<T> type, Function<String, T> parse) {
        return of(name, (row, column) -> row.getObject(column, type), Object::toString, parse);
    }

    /** A column of whole numbers: smallint, int, bigint. */
    public static KeyColumn<Long> number(String name) {
        return of(
                name,
                (row, column) -> {
                    long value = row.getLong(column);
                    return row.wasNull() ? null : value;
                },
                Object::toString,
                Long::valueOf);
    }

    /** A column of text. One of another type that reads as text, of UUIDs or numbers, is refused by databases that do not compare it with text. */
    public static KeyColumn<String> text(String name) {
        return of(name, ResultSet::getString, text -> text, text -> text);
    }

    /** A column of decimal numbers. */
    public static KeyColumn<BigDecimal> decimal(String name) {
        return of(name, ResultSet::getBigDecimal, BigDecimal::toString, BigDecimal::new);
    }

    /** A column of UUIDs, if the driver knows that type. */
    public static KeyColumn<UUID> uuid(String name) {
        return typed(name, UUID.class, UUID::fromString);
    }

    /** A column of dates. */
    public static KeyColumn<LocalDate> date(String name) {
        return typed(name, LocalDate.class, LocalDate::parse);
    }

    /** A column of dates with times, without a zone. */
    public static KeyColumn<LocalDateTime> timestamp(String name) {
        return typed(name, LocalDateTime.class, LocalDateTime::parse);
    }

    /** A column of instants: timestamp with time zone. */
    public static KeyColumn<OffsetDateTime> timestampWithTimeZone(String name) {
        return typed(name, OffsetDateTime.class, OffsetDateTime::parse);
    }

    /** Its name in the result of the query. */
    public String name() {
        return name;
    }

    /**
     * Reads the value of the present row as text.
     *
     * @throws UnusableQueryException when it is null
     */
    String textOf(ResultSet row) throws SQLException {
        T value = reader.read(row, name);
        if (value == null) {
            throw new UnusableQueryException("key column " + name
                    + " is null in a row, and rows behind it would never be read; key columns must not be null");
        }
        return write.apply(value);
    }

    Object valueOf(String text) {
        return parse.apply(text);
    }

    @Override
    public String toString() {
        return name;
    }
}

package io.minutehand.core.jdbc;

import java.util.regex.Pattern;

/** Names of tables, which go into SQL as they stand, without quotes. */
public final class TableName {
    private static final Pattern NAME = Pattern.compile("([a-z_][a-z0-9_]{0,49}\\.)?[a-z_][a-z0-9_]{0,49}");

    private TableName() {}

    /**
     * Returns the name, {@code [a-z_][a-z0-9_]*} with at most 50 characters, with or without such a schema before it.
     *
     * @throws IllegalArgumentException when it is another
     */
    public static String require(String table) {
        if (!NAME.matcher(table).matches()) {
            throw new IllegalArgumentException(
                    "table=" + table + " is not [schema.]table of a-z, 0-9 and _ with at most "
                            + "50 characters each; it goes into SQL without quotes");
        }
        return table;
    }

    /** The name without its schema. */
    public static String withoutSchema(String table) {
        return table.substring(table.indexOf('.') + 1);
    }
}

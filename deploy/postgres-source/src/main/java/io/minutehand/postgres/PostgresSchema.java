package io.minutehand.postgres;

import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * A schema of its own on a shared server. Connections of {@link #url()} find and create tables there and nowhere else.
 * Closing drops it with all that it holds. Thread-safe.
 */
public final class PostgresSchema implements AutoCloseable {

    private static final String PREFIX = "minutehand_";

    /** Names of PostgreSQL end after 63 bytes. */
    private static final int LONGEST_LABEL = 30;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final PostgresInstance instance;
    private final String name;

    private PostgresSchema(PostgresInstance instance, String name) {
        this.instance = instance;
        this.name = name;
    }

    static PostgresSchema create(PostgresInstance instance, String label) {
        String readable = label.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "_");
        String name = PREFIX
                + readable.substring(0, Math.min(LONGEST_LABEL, readable.length()))
                + "_"
                + Integer.toHexString(RANDOM.nextInt());
        PostgresSchema schema = new PostgresSchema(instance, name);
        schema.run("CREATE SCHEMA " + name);
        return schema;
    }

    /** Its name, which needs no quotes. */
    public String name() {
        return name;
    }

    /** JDBC URL with credentials, whose connections work in this schema. Not for logs. */
    public String url() {
        String url = instance.url();
        return url + (url.contains("?") ? "&" : "?") + "currentSchema=" + name;
    }

    /** Connections to this schema, without a pool: each call opens one, which its caller closes. */
    public DataSource dataSource() {
        return Jdbc.dataSource(url());
    }

    /** Drops the schema. Calling it again does nothing. */
    @Override
    public void close() {
        run("DROP SCHEMA IF EXISTS " + name + " CASCADE");
    }

    private void run(String sql) {
        try (Connection connection = instance.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "'" + sql + "' failed on " + instance.describe() + ": " + e.getMessage(), e);
        }
    }
}

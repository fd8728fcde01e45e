package io.minutehand.postgres;

import io.minutehand.source.SourceKind;
import javax.sql.DataSource;

/** A PostgreSQL that answers, whoever runs it. Closing ends it if it was started here, and else changes nothing. */
public interface PostgresInstance extends AutoCloseable {

    /** JDBC URL with credentials. Not for logs. */
    String url();

    /** Where this PostgreSQL comes from. */
    SourceKind kind();

    /** Version, such as {@code 15.8}. */
    String version();

    /** One line for people: source, version and address, without credentials. */
    String describe();

    /** Connections without a pool: each call opens one, which its caller closes. */
    default DataSource dataSource() {
        return Jdbc.dataSource(url());
    }

    /**
     * Makes a schema of its own, so that tests keep apart: its connections find and create tables there.
     *
     * @param label part of its name, for people who look: letters, digits and underscores
     * @throws IllegalStateException if the user may not create schemas, or if the server does not answer
     */
    default PostgresSchema newSchema(String label) {
        return PostgresSchema.create(this, label);
    }

    /** Ends what was started here. Calling it again does nothing. */
    @Override
    void close();
}

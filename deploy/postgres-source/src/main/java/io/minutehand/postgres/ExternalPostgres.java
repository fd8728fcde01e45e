package io.minutehand.postgres;

import io.minutehand.source.SourceKind;
import java.sql.SQLException;

/** A server that runs already: reached, looked at, and left alone. */
final class ExternalPostgres implements PostgresInstance {

    private final String url;
    private final String version;

    private ExternalPostgres(String url, String version) {
        this.url = url;
        this.version = version;
    }

    /** @throws IllegalStateException if nothing answers, if it refuses the user, or if it is too old */
    static ExternalPostgres reach(String url) {
        try {
            return new ExternalPostgres(url, Jdbc.versionOf(url));
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "No PostgreSQL lets us in at " + Jdbc.place(url) + ": " + e.getMessage()
                            + "; check address, user and password",
                    e);
        }
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public SourceKind kind() {
        return SourceKind.ADDRESS;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public String describe() {
        return "source=address PostgreSQL " + version + " at " + Jdbc.place(url);
    }

    @Override
    public void close() {
        // Not ours to end.
    }
}

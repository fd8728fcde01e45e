package io.minutehand.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What is asked of PostgreSQL's JDBC driver. */
final class Jdbc {

    /** {@code FOR UPDATE SKIP LOCKED} is older; what is older than this gets no fixes any more. */
    static final int OLDEST_MAJOR = 12;

    static final String EXAMPLE = "jdbc:postgresql://host:5432/database?user=name&password=word";

    /** The driver logs what it cannot parse, password included, so it gets to see nothing else. */
    private static final Pattern FORM = Pattern.compile("jdbc:postgresql:(//[^/?\\s]+/)?[^/?\\s]*(\\?\\S*)?");

    private Jdbc() {}

    /** @throws IllegalArgumentException if it is no JDBC URL of PostgreSQL; the message does not show it */
    static PGSimpleDataSource parse(String url) {
        if (FORM.matcher(url).matches()) {
            try {
                PGSimpleDataSource source = new PGSimpleDataSource();
                source.setUrl(url);
                return source;
            } catch (IllegalArgumentException e) {
                // Its message holds the whole URL, password included.
            }
        }
        throw new IllegalArgumentException("The address is not a JDBC URL of PostgreSQL; give one such as " + EXAMPLE);
    }

    static DataSource dataSource(String url) {
        return parse(url);
    }

    /** Host, port and database, without credentials. */
    static String place(String url) {
        PGSimpleDataSource source = parse(url);
        int[] ports = source.getPortNumbers();
        String port = ports == null || ports.length == 0 || ports[0] == 0 ? "" : ":" + ports[0];
        return String.join(",", source.getServerNames()) + port + "/" + source.getDatabaseName();
    }

    /**
     * Connects once and asks for the version.
     *
     * @throws IllegalStateException if the server is too old
     * @throws SQLException if none answers, or if it refuses the user
     */
    static String versionOf(String url) throws SQLException {
        try (Connection connection = parse(url).getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW server_version")) {
            rows.next();
            String version = rows.getString(1).split(" ", 2)[0];
            requireRecent(version, "The server at " + place(url));
            return version;
        }
    }

    /** Refuses versions below 12. */
    static void requireRecent(String version, String what) {
        String major = version.split("\\D", 2)[0];
        if (!major.matches("\\d{1,6}") || Integer.parseInt(major) < OLDEST_MAJOR) {
            throw new IllegalStateException(
                    what + " is version " + version + "; " + OLDEST_MAJOR + " or later is needed");
        }
    }
}

package io.minutehand.orders;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;
import org.postgresql.ds.PGSimpleDataSource;

/** What tests ask of the database themselves, past the code that they test. */
final class Sql {
    private Sql() {}

    static Connection connect(String url) throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return source.getConnection();
    }

    static long number(String url, String sql) throws SQLException {
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    static void run(String url, String sql) throws SQLException {
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The rows of one column of text, sorted; a row that is there twice is marked. */
    static Set<String> texts(String url, String sql) throws SQLException {
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            Set<String> found = new TreeSet<>();
            while (rows.next()) {
                String text = rows.getString(1);
                while (!found.add(text)) {
                    text += " again";
                }
            }
            return found;
        }
    }
}

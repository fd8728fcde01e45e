package io.minutehand.router.outbox;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.minutehand.core.jdbc.TableName;
import io.minutehand.core.job.JobSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The table, and all SQL on it. Rows are taken in the order of their due times, so that after an outage those that matter first are scheduled
 * first, and with SKIP LOCKED, so that relays share the work instead of waiting for each other. Immutable, thread-safe; connections are the
 * caller's.
 */
final class OutboxTable {
    private static final String RESOURCE = "postgresql.sql";
    private static final String NAME_IN_RESOURCE = "minutehand_outbox";
    private static final int REASON_CHARS = 500;

    /** Bytes of payloads after which no more rows are claimed: what a pass holds in memory, several times over. */
    static final long CLAIMED_BYTES = 4L * 1024 * 1024;

    /** Drivers hold so many rows at a time, not a whole page. */
    private static final int FETCHED_ROWS = 16;

    /** Plain ASCII: what a database cannot store in text, such as U+0000, is escaped. */
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private static final TypeReference<LinkedHashMap<String, String>> HEADERS = new TypeReference<>() {};

    private static final String COLUMNS = "row_id, topic, job_id, business_id, due_at_ms, headers, payload";

    private final String name;

    OutboxTable(String name) {
        this.name = name;
    }

    /** A row, as it stands in the table. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Row(
            String rowId,
            String topic,
            String jobId,
            @Nullable String businessId,
            long dueAtMs,
            String headers,
            byte[] payload) {
        /**
         * The job. Always the same request, however often it is made.
         *
         * @throws IllegalArgumentException when somebody has written what is no job
         */
        JobSpec<byte[]> toSpec() {
            JobSpec<byte[]> spec = JobSpec.of(payload).id(jobId).at(Instant.ofEpochMilli(dueAtMs));
            if (businessId != null) {
                spec = spec.businessId(businessId);
            }
            try {
                for (var header : JSON.readValue(headers, HEADERS).entrySet()) {
                    spec = spec.header(header.getKey(), Objects.requireNonNull(header.getValue(), header.getKey()));
                }
            } catch (JsonProcessingException | NullPointerException e) {
                throw new IllegalArgumentException("headers are not a JSON object of strings: " + headers, e);
            }
            return spec;
        }
    }

    /**
     * Rows that are locked now.
     *
     * @param more whether there are further ones, left because these have many bytes
     */
    record Claimed(List<Row> rows, boolean more) {}

    static String headersToJson(Map<String, String> headers) {
        Map<String, String> plain = new LinkedHashMap<>();
        headers.forEach((name, value) -> plain.put(inUtf8(name), inUtf8(value)));
        try {
            return JSON.writeValueAsString(plain);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a map of strings is always JSON", e);
        }
    }

    /** As Redis will have it: half a surrogate pair, which JSON can write and not read, becomes a question mark. */
    private static String inUtf8(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    String createSql() {
        String index = TableName.withoutSchema(name) + "_due";
        return resource()
                .replace(NAME_IN_RESOURCE + "_due", index)
                .replace("ON " + NAME_IN_RESOURCE, "ON " + name)
                .replace("EXISTS " + NAME_IN_RESOURCE, "EXISTS " + name);
    }

    private static String resource() {
        try (InputStream in = Objects.requireNonNull(OutboxTable.class.getResourceAsStream(RESOURCE), RESOURCE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Reading the resource " + RESOURCE + " failed", e);
        }
    }

    void create(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(createSql());
        }
    }

    Instant now(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT CURRENT_TIMESTAMP")) {
            row.next();
            return row.getTimestamp(1).toInstant();
        }
    }

    void insert(Connection connection, Row row) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO " + name + " (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?)")) {
            insert.setString(1, row.rowId());
            insert.setString(2, row.topic());
            insert.setString(3, row.jobId());
            insert.setString(4, row.businessId());
            insert.setLong(5, row.dueAtMs());
            insert.setString(6, row.headers());
            insert.setBytes(7, row.payload());
            insert.executeUpdate();
        }
    }

    /** Locks those of these rows that are committed, not set aside, and not locked. */
    Claimed claim(Connection connection, Collection<String> rowIds) throws SQLException {
        String marks = String.join(", ", Collections.nCopies(rowIds.size(), "?"));
        try (PreparedStatement select = connection.prepareStatement("SELECT " + COLUMNS + " FROM " + name
                + " WHERE row_id IN (" + marks + ") AND set_aside IS NULL FOR UPDATE SKIP LOCKED")) {
            int mark = 0;
            for (String rowId : rowIds) {
                select.setString(++mark, rowId);
            }
            return rows(select);
        }
    }

    /** Locks the first committed rows behind this one that are not set aside and not locked; null begins with the first of all. */
    Claimed claim(Connection connection, @Nullable Row after, int limit) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT " + COLUMNS + " FROM " + name
                + " WHERE set_aside IS NULL AND (due_at_ms > ? OR (due_at_ms = ? AND row_id > ?))"
                + " ORDER BY due_at_ms, row_id LIMIT ? FOR UPDATE SKIP LOCKED")) {
            long dueAtMs = after == null ? Long.MIN_VALUE : after.dueAtMs();
            select.setLong(1, dueAtMs);
            select.setLong(2, dueAtMs);
            select.setString(3, after == null ? "" : after.rowId());
            select.setInt(4, limit);
            return rows(select);
        }
    }

    private static Claimed rows(PreparedStatement select) throws SQLException {
        List<Row> rows = new ArrayList<>();
        long bytes = 0;
        select.setFetchSize(FETCHED_ROWS);
        try (ResultSet found = select.executeQuery()) {
            while (found.next()) {
                if (bytes >= CLAIMED_BYTES) {
                    return new Claimed(rows, true);
                }
                rows.add(new Row(
                        found.getString(1),
                        found.getString(2),
                        found.getString(3),
                        found.getString(4),
                        found.getLong(5),
                        found.getString(6),
                        found.getBytes(7)));
                bytes += rows.get(rows.size() - 1).payload().length;
            }
        }
        return new Claimed(rows, false);
    }

    void delete(Connection connection, Collection<Row> rows) throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        try (PreparedStatement delete = connection.prepareStatement("DELETE FROM " + name + " WHERE row_id = ?")) {
            for (Row row : rows) {
                delete.setString(1, row.rowId());
                delete.addBatch();
            }
            delete.executeBatch();
        }
    }

    void setAside(Connection connection, Map<Row, String> reasons) throws SQLException {
        if (reasons.isEmpty()) {
            return;
        }
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE " + name + " SET set_aside = ? WHERE row_id = ?")) {
            for (Map.Entry<Row, String> entry : reasons.entrySet()) {
                update.setString(1, storable(entry.getValue()));
                update.setString(2, entry.getKey().rowId());
                update.addBatch();
            }
            update.executeBatch();
        }
    }

    private static String storable(String reason) {
        String plain = reason.replace('\0', ' ');
        return plain.length() > REASON_CHARS ? plain.substring(0, REASON_CHARS) : plain;
    }

    @Override
    public String toString() {
        return name;
    }
}

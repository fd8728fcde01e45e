package io.minutehand.router.outbox;

import io.minutehand.core.jdbc.Transactions;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.write.TopicRegistry.UnknownTopicException;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.outbox.OutboxTable.Claimed;
import io.minutehand.router.outbox.OutboxTable.Row;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pass: claims rows, schedules their jobs, and settles the rows, in one transaction. What dies on the way leaves the rows as they were, and the
 * next pass sends the same requests again. Since rows are claimed by a lock that only committed rows can give, a pass never sends what is not
 * committed, and two passes never work on one row. The lock lasts as long as the answers, at most the router's deadline.
 *
 * <p>Thread-safe; each pass has a connection of its own and blocks its thread.
 */
final class OutboxPass {
    private static final Logger log = LoggerFactory.getLogger(OutboxPass.class);

    private final JobRouter router;
    private final DataSource database;
    private final OutboxTable table;
    private final Steps steps;

    OutboxPass(JobRouter router, DataSource database, OutboxTable table, Steps steps) {
        this.router = router;
        this.database = database;
        this.table = table;
        this.steps = steps;
    }

    /**
     * What a pass did.
     *
     * @param claimed its rows, in their order
     * @param deliveries by row id
     * @param more whether it left rows behind because those before them had many bytes
     * @param trouble why rows were left for later, or null when none was
     */
    record Outcome(
            List<Row> claimed,
            Map<String, Delivery> deliveries,
            boolean more,
            @Nullable String trouble) {
        long count(Delivery delivery) {
            return deliveries.values().stream().filter(one -> one == delivery).count();
        }
    }

    /**
     * A pass over these rows.
     *
     * @throws SQLException when the database fails: the rows are as they were
     * @throws InterruptedException likewise
     */
    Outcome overRows(Collection<String> rowIds) throws SQLException, InterruptedException {
        return run(connection -> table.claim(connection, rowIds));
    }

    /** A pass over the page behind this row; otherwise as {@link #overRows}. */
    Outcome overPage(@Nullable Row after, int limit) throws SQLException, InterruptedException {
        return run(connection -> table.claim(connection, after, limit));
    }

    private interface Claim {
        Claimed rows(Connection connection) throws SQLException;
    }

    private Outcome run(Claim claim) throws SQLException, InterruptedException {
        // What a pass reads it locks. Under more isolation it would fail, and make transactions of the application
        // fail,
        // for conflicts that are none.
        return Transactions.run(
                database,
                OptionalInt.of(Connection.TRANSACTION_READ_COMMITTED),
                connection -> settle(connection, claim.rows(connection)));
    }

    private Outcome settle(Connection connection, Claimed claimed) throws SQLException, InterruptedException {
        List<Row> rows = claimed.rows();
        if (rows.isEmpty()) {
            return new Outcome(rows, Map.of(), false, null);
        }
        steps.claimed();
        Verdicts verdicts = send(rows);
        steps.sent();
        table.delete(connection, verdicts.scheduled);
        table.setAside(connection, verdicts.setAside);
        steps.settled();
        // A WARN each: somebody committed a job that will not run unless somebody looks.
        verdicts.setAside.forEach((row, reason) -> log.warn(
                "outbox: set aside table={} row={} topic={} job={} reason={}",
                table,
                row.rowId(),
                row.topic(),
                row.jobId(),
                reason));
        return new Outcome(rows, verdicts.deliveries(rows), claimed.more(), verdicts.trouble);
    }

    private Verdicts send(List<Row> rows) throws InterruptedException {
        Verdicts verdicts = new Verdicts();
        Map<Row, CompletableFuture<ScheduleResult>> answers = new IdentityHashMap<>();
        for (Row row : rows) {
            try {
                JobSpec<byte[]> spec = row.toSpec();
                answers.put(row, router.schedule(row.topic(), spec));
            } catch (IllegalArgumentException e) {
                verdicts.setAside.put(row, String.valueOf(e.getMessage()));
            } catch (IllegalStateException e) {
                // The router is closed.
                verdicts.trouble = e.getMessage();
            }
        }
        for (Row row : rows) {
            CompletableFuture<ScheduleResult> answer = answers.get(row);
            if (answer != null) {
                judge(row, answer, verdicts);
            }
        }
        return verdicts;
    }

    private static void judge(Row row, CompletableFuture<ScheduleResult> answer, Verdicts verdicts)
            throws InterruptedException {
        try {
            ScheduleResult result = answer.get();
            switch (result.status()) {
                case CREATED, EXISTS, REPLACED -> verdicts.scheduled.add(row);
                case CONFLICT ->
                    verdicts.setAside.put(row, "another request has this id, its state is " + result.state());
                case RUNNING, STORED_NOT_REPLICATED, STORE_FULL, NOT_STORED, UNKNOWN ->
                    verdicts.trouble = "Redis answered " + result.status();
            }
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof UnknownTopicException || cause instanceof IllegalArgumentException) {
                verdicts.setAside.put(row, String.valueOf(cause.getMessage()));
            } else {
                verdicts.trouble = String.valueOf(cause == null ? e : cause.getMessage());
            }
        }
    }

    /** What is to become of each row; those that are in neither are left for later. */
    private static final class Verdicts {
        private final List<Row> scheduled = new ArrayList<>();
        private final Map<Row, String> setAside = new IdentityHashMap<>();
        private @Nullable String trouble;

        Map<String, Delivery> deliveries(List<Row> rows) {
            Map<String, Delivery> deliveries = new HashMap<>();
            rows.forEach(row -> deliveries.put(row.rowId(), Delivery.POSTPONED));
            scheduled.forEach(row -> deliveries.put(row.rowId(), Delivery.SCHEDULED));
            setAside.keySet().forEach(row -> deliveries.put(row.rowId(), Delivery.SET_ASIDE));
            return deliveries;
        }
    }
}

package io.minutehand.router.outbox;

import static io.minutehand.router.outbox.Outboxes.TOPIC;
import static io.minutehand.router.outbox.Outboxes.await;
import static io.minutehand.router.outbox.Outboxes.commit;
import static io.minutehand.router.outbox.Outboxes.count;
import static io.minutehand.router.outbox.Outboxes.job;
import static io.minutehand.router.outbox.Outboxes.rows;
import static io.minutehand.router.outbox.Outboxes.update;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.router.JobRouter;
import io.minutehand.router.PlayedNode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutboxRelayIT {
    private static final OutboxSettings QUICK = OutboxSettings.defaults().withPeriod(Duration.ofMillis(50));

    private final PostgresSchema schema = SharedPostgres.newSchema(OutboxRelayIT.class);
    private final HikariDataSource database = Outboxes.pool(schema);
    private final RedisOptions redis = Outboxes.redis();
    private final JobRouter router = JobRouter.builder()
            .redis(redis)
            .declare(TOPIC, TopicSettings.defaults())
            .createTopics(false)
            .connect();

    @AfterEach
    void close() {
        router.close();
        database.close();
        schema.close();
    }

    @Test
    void shouldShareTheWorkAmongRelaysAndDoEachRowOnce() throws Exception {
        String[] ids = IntStream.range(0, 600).mapToObj(i -> "job" + i).toArray(String[]::new);
        OutboxSettings settings = QUICK.withPageRows(20).withRowsPerSecond(1_000_000);
        CountDownLatch both = new CountDownLatch(2);
        Steps meeting = new Steps() {
            @Override
            public void claimed() {
                both.countDown();
                try {
                    // Each holds its first page until the other has one too.
                    assertThat(both.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        try (JobOutbox outbox = Outboxes.open(router, database, settings, meeting)) {
            commit(outbox, database, ids);
            try (OutboxRelay one = OutboxRelay.start(outbox);
                    OutboxRelay other = OutboxRelay.start(outbox)) {
                await("the table is empty").until(() -> rows(database) == 0);
                await("both have counted")
                        .until(() -> one.stats().scheduled() + other.stats().scheduled() == ids.length);
                assertThat(one.stats().scheduled()).isPositive();
                assertThat(other.stats().scheduled()).isPositive();
            }
        }
        assertThat(pending()).isEqualTo(ids.length);
    }

    @Test
    void shouldSetAsideWhatCanNeverBeScheduledAndGoOn() throws Exception {
        try (JobOutbox outbox = Outboxes.open(router, database, QUICK.withPageRows(2), Steps.NONE)) {
            commit(outbox, database, "headers", "id", "business", "due", "good1", "conflict", "topic", "good2");
            update(database, "UPDATE minutehand_outbox SET headers = '[1]' WHERE job_id = 'headers'");
            update(database, "UPDATE minutehand_outbox SET job_id = 'not an id' WHERE job_id = 'id'");
            update(database, "UPDATE minutehand_outbox SET headers = '{\"a\": null}' WHERE job_id = 'business'");
            update(database, "UPDATE minutehand_outbox SET due_at_ms = 9e15 WHERE job_id = 'due'");
            update(database, "UPDATE minutehand_outbox SET topic = 'nobody.made.it' WHERE job_id = 'topic'");
            router.schedule(TOPIC, job("conflict").at(Instant.EPOCH)).join();

            try (OutboxRelay relay = OutboxRelay.start(outbox)) {
                await("all rows are done")
                        .until(() ->
                                relay.stats().scheduled() == 2 && relay.stats().setAside() == 6);
                await("no row is left for later").until(() -> relay.stats().trouble() == null);
                assertThat(Outboxes.found(router, List.of("good1", "good2"))).hasSize(2);
                assertThat(reason("headers")).contains("not a JSON object of strings");
                assertThat(reason("not an id")).contains("not an id");
                assertThat(reason("business")).contains("not a JSON object of strings");
                assertThat(reason("due")).contains("due time");
                assertThat(reason("conflict")).contains("another request has this id");
                assertThat(reason("topic")).contains("nobody.made.it");

                // Mended and given back by hand.
                update(
                        database,
                        "UPDATE minutehand_outbox SET topic = ?, set_aside = NULL WHERE job_id = 'topic'",
                        TOPIC);
                await("the mended row is done").until(() -> relay.stats().scheduled() == 3);
            }
        }
        assertThat(rows(database)).isEqualTo(5);
        assertThat(count(database, "SELECT count(*) FROM minutehand_outbox WHERE set_aside IS NULL"))
                .isZero();
    }

    @Test
    void shouldTakeWhatIsDueFirstInPagesAndKeepToItsRate() throws Exception {
        OutboxSettings settings = QUICK.withPageRows(2).withRowsPerSecond(4);
        try (JobOutbox outbox = Outboxes.open(router, database, settings, Steps.NONE)) {
            try (Connection connection = Outboxes.begin(database)) {
                for (int hour : new int[] {5, 1, 4, 2, 3}) {
                    outbox.schedule(connection, TOPIC, job("in" + hour).after(Duration.ofHours(hour)));
                }
                connection.commit();
            }
            OutboxRelay relay = new OutboxRelay(outbox);
            assertThat(relay.runOnce()).isEqualTo(Duration.ofMillis(500));
            assertThat(Outboxes.found(router, List.of("in1", "in2", "in3", "in4", "in5")))
                    .containsExactly("in1", "in2");
            assertThat(relay.runOnce()).isEqualTo(Duration.ofMillis(500));
            assertThat(relay.runOnce()).as("the end").isEqualTo(settings.period());
            assertThat(rows(database)).isZero();
            commit(outbox, database, "new");
            relay.runOnce();
            assertThat(rows(database)).as("it began anew").isZero();
        }
    }

    @Test
    void shouldOutliveErrors() throws Exception {
        Queue<Error> errors =
                new ConcurrentLinkedQueue<>(List.of(new OutOfMemoryError("planned"), new AssertionError("planned")));
        Steps failing = new Steps() {
            @Override
            public void claimed() {
                Error error = errors.poll();
                if (error != null) {
                    throw error;
                }
            }
        };
        try (JobOutbox outbox = Outboxes.open(router, database, QUICK, failing);
                Connection connection = Outboxes.begin(database)) {
            OutboxJob first = outbox.schedule(connection, TOPIC, job("first"));
            connection.commit();
            assertThat(first.committed().get(60, TimeUnit.SECONDS)).isEqualTo(Delivery.POSTPONED);
            try (OutboxRelay relay = OutboxRelay.start(outbox)) {
                await("the relay goes on after an error")
                        .until(() -> relay.stats().scheduled() == 1);
            }
            assertThat(errors).isEmpty();
            OutboxJob second = outbox.schedule(connection, TOPIC, job("second"));
            connection.commit();
            assertThat(second.committed().get(60, TimeUnit.SECONDS)).isEqualTo(Delivery.SCHEDULED);
        }
    }

    @Test
    void shouldHoldFewBytesInMemory() throws Exception {
        List<String> ids = IntStream.range(0, 40).mapToObj(i -> "big" + i).toList();
        try (JobOutbox outbox = Outboxes.open(router, database, QUICK, Steps.NONE);
                Connection connection = Outboxes.begin(database)) {
            byte[] payload = new byte[Limits.PAYLOAD_BYTES];
            for (String id : ids) {
                outbox.schedule(connection, TOPIC, JobSpec.of(payload).id(id).after(Outboxes.FAR));
            }
            connection.commit();
            OutboxRelay relay = new OutboxRelay(outbox);
            assertThat(relay.runOnce()).as("not the end").isLessThan(QUICK.period());
            assertThat(relay.stats().scheduled()).isEqualTo(OutboxTable.CLAIMED_BYTES / Limits.PAYLOAD_BYTES);
            relay.runOnce();
            relay.runOnce();
            assertThat(rows(database)).isZero();
            assertThat(Outboxes.found(router, ids)).hasSize(ids.size());
        }
    }

    @Test
    void shouldNotConflictWithTransactionsOfMoreIsolation() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(schema.url());
        config.setMaximumPoolSize(5);
        config.setMinimumIdle(0);
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        AtomicReference<Connection> application = new AtomicReference<>();
        AtomicReference<JobOutbox> outboxes = new AtomicReference<>();
        Steps meeting = new Steps() {
            @Override
            public void claimed() {
                try {
                    Connection connection = application.getAndSet(null);
                    if (connection != null) {
                        outboxes.get().schedule(connection, TOPIC, job("meanwhile"));
                        connection.commit();
                    }
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        try (HikariDataSource serializable = new HikariDataSource(config);
                JobOutbox outbox = Outboxes.open(router, serializable, QUICK, meeting);
                Connection connection = Outboxes.begin(serializable)) {
            outboxes.set(outbox);
            commit(outbox, serializable, "before");
            // It has read what the pass is to delete, and writes what the pass would have read.
            try (var read = connection.createStatement()) {
                read.executeQuery("SELECT count(*) FROM minutehand_outbox");
            }
            application.set(connection);
            OutboxRelay relay = new OutboxRelay(outbox);
            relay.runOnce();
            assertThat(relay.stats()).isEqualTo(new OutboxStats(1, 0, 0, null));
            assertThat(rows(database)).isOne();
        }
    }

    @Test
    void shouldSkipRowsThatAnotherHoldsAndNotWaitForThem() throws Exception {
        try (JobOutbox outbox = Outboxes.open(router, database, QUICK, Steps.NONE)) {
            commit(outbox, database, "held", "free");
            try (Connection holder = Outboxes.begin(database)) {
                holder.createStatement()
                        .executeQuery("SELECT 1 FROM minutehand_outbox WHERE job_id = 'held' FOR UPDATE");
                OutboxRelay relay = new OutboxRelay(outbox);
                relay.runOnce();
                assertThat(relay.stats().scheduled()).isEqualTo(1);
                holder.rollback();
                relay.runOnce();
                assertThat(relay.stats().scheduled()).isEqualTo(2);
            }
        }
        assertThat(rows(database)).isZero();
    }

    private String reason(String id) throws SQLException {
        try (Connection connection = database.getConnection();
                var statement =
                        connection.prepareStatement("SELECT set_aside FROM minutehand_outbox WHERE job_id = ?")) {
            statement.setString(1, id);
            var row = statement.executeQuery();
            assertThat(row.next()).as("row of %s", id).isTrue();
            return row.getString(1);
        }
    }

    private long pending() {
        try (PlayedNode node = new PlayedNode(redis, TOPIC, TopicSettings.defaults())) {
            return node.pending();
        }
    }
}

package io.minutehand.router.outbox;

import static io.minutehand.router.outbox.Outboxes.TOPIC;
import static io.minutehand.router.outbox.Outboxes.await;
import static io.minutehand.router.outbox.Outboxes.begin;
import static io.minutehand.router.outbox.Outboxes.find;
import static io.minutehand.router.outbox.Outboxes.job;
import static io.minutehand.router.outbox.Outboxes.rows;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.Limits;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.ScheduleResult.Status;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JobOutboxIT {
    record CloseOrder(long id, Instant since) {}

    private final PostgresSchema schema = SharedPostgres.newSchema(JobOutboxIT.class);
    private final HikariDataSource database = Outboxes.pool(schema);
    private final JobRouter router = JobRouter.builder().redis(Outboxes.redis()).connect();
    private JobOutbox outbox;

    @BeforeEach
    void open() throws SQLException {
        outbox = Outboxes.open(router, database, OutboxSettings.defaults(), Steps.NONE);
    }

    @AfterEach
    void close() {
        outbox.close();
        router.close();
        database.close();
        schema.close();
    }

    @Test
    void shouldScheduleTheWholeJobWhenTheTransactionCommits() throws Exception {
        String odd = "\u0000 \"Grüße\" 'x' \\ 一 \uD83D\uDE00 -- ; DROP";
        Instant at =
                Instant.now().plusSeconds(3600).truncatedTo(ChronoUnit.MILLIS).plusNanos(1);
        JobSpec<byte[]> spec = JobSpec.of(new byte[] {0, 1, (byte) 0xff, 127})
                .id("A-z._:@+=-9")
                .businessId("Größe 7")
                .header("b", odd)
                .header(odd, "")
                .at(at);
        try (Connection connection = begin(database)) {
            OutboxJob job = outbox.schedule(connection, TOPIC, spec);
            assertThat(job.topic()).isEqualTo(TOPIC);
            assertThat(job.id()).isEqualTo("A-z._:@+=-9");
            assertThat(find(router, job.id())).isEmpty();
            connection.commit();
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.SCHEDULED);
        }

        Job stored = find(router, "A-z._:@+=-9").map(JobStatus::job).orElseThrow();
        assertThat(stored.payload()).isEqualTo(spec.payload());
        assertThat(stored.businessId()).isEqualTo(spec.businessId());
        assertThat(stored.headers()).containsExactlyEntriesOf(spec.headers());
        assertThat(stored.dueAt()).isEqualTo(Instant.ofEpochMilli(at.toEpochMilli() + 1));
        assertThat(rows(database)).isZero();
        assertThat(outbox.stats()).isEqualTo(new OutboxStats(1, 0, 0, null));
        assertThat(router.schedule(TOPIC, spec).join())
                .as("the router knows it as the very same request")
                .returns(Status.EXISTS, ScheduleResult::status)
                .returns(JobState.PENDING, ScheduleResult::state);
    }

    @Test
    void shouldWriteTypedPayloadsAsTheRouterDoesAndMakeIds() throws Exception {
        Instant since = Instant.parse("2026-01-02T03:04:05Z");
        String id;
        try (Connection connection = begin(database)) {
            OutboxJob job = outbox.schedule(connection, TOPIC, JobSpec.of(new CloseOrder(7, since)));
            id = job.id();
            connection.commit();
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.SCHEDULED);
        }
        Job stored = find(router, id).map(JobStatus::job).orElseThrow();
        assertThat(new String(stored.payload(), StandardCharsets.UTF_8))
                .isEqualTo("{\"id\":7,\"since\":\"2026-01-02T03:04:05Z\"}");
        assertThat(stored.businessId()).isNull();
    }

    @Test
    void shouldScheduleNothingWhenTheTransactionRollsBack() throws Exception {
        OutboxJob job;
        try (Connection connection = begin(database);
                OutboxRelay relay = OutboxRelay.start(outbox)) {
            job = outbox.schedule(connection, TOPIC, job("rolled.back"));
            OutboxJob kept = outbox.schedule(connection, TOPIC, job("too.early"));
            assertThat(kept.committed().get(30, TimeUnit.SECONDS))
                    .as("told before the commit")
                    .isEqualTo(Delivery.NOT_FOUND);
            connection.rollback();
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.NOT_FOUND);
            Outboxes.commit(outbox, database, "after");
            await("the relay saw the table").until(() -> relay.stats().scheduled() == 1);
        }
        assertThat(Outboxes.found(router, List.of("rolled.back", "too.early", "after")))
                .containsExactly("after");
        assertThat(rows(database)).isZero();
    }

    @Test
    void shouldLeaveWhatNobodyToldOrToldTooEarlyToTheRelay() throws Exception {
        try (Connection connection = begin(database)) {
            OutboxJob job = outbox.schedule(connection, TOPIC, job("too.early"));
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.NOT_FOUND);
            outbox.schedule(connection, TOPIC, job("never.told"));
            connection.commit();
        }
        assertThat(rows(database)).isEqualTo(2);
        try (OutboxRelay relay = OutboxRelay.start(outbox)) {
            await("the relay has done both").until(() -> relay.stats().scheduled() == 2);
            assertThat(relay.stats()).isEqualTo(new OutboxStats(2, 0, 0, null));
        }
        assertThat(Outboxes.found(router, List.of("too.early", "never.told"))).hasSize(2);
    }

    @Test
    void shouldCountDelaysFromTheTimeOfTheTransaction() throws Exception {
        Instant began;
        try (Connection connection = begin(database);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT now()")) {
            row.next();
            began = row.getTimestamp(1).toInstant();
            outbox.schedule(connection, TOPIC, job("later").after(Duration.ofMinutes(30)));
            outbox.schedule(connection, TOPIC, job("negative").after(Duration.ofDays(-1)));
            outbox.schedule(connection, TOPIC, job("old").at(Instant.MIN));
            connection.commit();
        }
        assertThat(Outboxes.count(database, "SELECT due_at_ms FROM minutehand_outbox WHERE job_id = 'later'"))
                .isEqualTo(roundedUpMs(began.plus(Duration.ofMinutes(30))));
        assertThat(Outboxes.count(database, "SELECT due_at_ms FROM minutehand_outbox WHERE job_id = 'negative'"))
                .isEqualTo(roundedUpMs(began));
        assertThat(Outboxes.count(database, "SELECT due_at_ms FROM minutehand_outbox WHERE job_id = 'old'"))
                .isZero();
        assertThat(new OutboxRelay(outbox).runOnce())
                .isEqualTo(outbox.settings().period());
        assertThat(rows(database)).isZero();
        assertThat(find(router, "later").map(JobStatus::job).orElseThrow().dueAt())
                .isEqualTo(Instant.ofEpochMilli(roundedUpMs(began.plus(Duration.ofMinutes(30)))));
    }

    @Test
    void shouldRefuseWhatItCannotKeepAndWriteNothing() throws Exception {
        try (Connection connection = begin(database)) {
            assertThatThrownBy(() -> outbox.schedule(connection, "No Topic", job("x")))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> outbox.schedule(connection, TOPIC, JobSpec.of(new byte[Limits.PAYLOAD_BYTES + 1])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("payloadBytes=" + Limits.PAYLOAD_BYTES);
            assertThatThrownBy(() -> outbox.schedule(connection, TOPIC, job("x").after(Limits.HORIZON.plusDays(1))))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> outbox.schedule(connection, TOPIC, job("x").replacing()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("replacing()");
            assertThatThrownBy(() -> outbox.schedule(connection, TOPIC, job("x").businessId("a\0b")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("U+0000");
            connection.setAutoCommit(true);
            assertThatThrownBy(() -> outbox.schedule(connection, TOPIC, job("x")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
        assertThat(rows(database)).isZero();
    }

    @Test
    void shouldKeepHeadersOfAnyText() throws Exception {
        try (Connection connection = begin(database)) {
            OutboxJob job = outbox.schedule(
                    connection,
                    TOPIC,
                    job("odd")
                            .header("", "")
                            .header("\0 \u20ac \ud83d\ude00", "\0")
                            .header("half \ud83d", "\ude00"));
            connection.commit();
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.SCHEDULED);
        }
        assertThat(find(router, "odd").map(JobStatus::job).orElseThrow().headers())
                .containsExactlyInAnyOrderEntriesOf(Map.of("", "", "\0 \u20ac \ud83d\ude00", "\0", "half ?", "?"));
    }

    @Test
    void shouldPostponeWhatItHasNoRoomFor() throws Exception {
        OutboxSettings none = OutboxSettings.defaults().withDirectJobs(0);
        try (JobOutbox small = JobOutbox.open(router, database, none);
                Connection connection = begin(database)) {
            OutboxJob job = small.schedule(connection, TOPIC, job("no.room"));
            connection.commit();
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.POSTPONED);
            assertThat(small.stats().postponed()).isEqualTo(1);
        }
        assertThat(rows(database)).isEqualTo(1);
    }

    @Test
    void shouldLeaveToTheRelayWhatIsToldAfterItIsClosed() throws Exception {
        try (Connection connection = begin(database)) {
            OutboxJob job = outbox.schedule(connection, TOPIC, job("closed"));
            connection.commit();
            outbox.close();
            outbox.close();
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.POSTPONED);
        }
        assertThat(rows(database)).isEqualTo(1);
    }

    @Test
    void shouldUseTheTableThatIsSet() throws Exception {
        OutboxSettings settings = OutboxSettings.defaults().withTable(schema.name() + ".jobs_of_orders");
        try (JobOutbox other = Outboxes.open(router, SharedPostgres.get().dataSource(), settings, Steps.NONE);
                Connection connection = begin(database)) {
            assertThat(other.createTableSql())
                    .contains("jobs_of_orders_due ON " + schema.name() + ".jobs_of_orders (")
                    .doesNotContain("minutehand_outbox");
            OutboxJob job = other.schedule(connection, TOPIC, job("elsewhere"));
            connection.commit();
            assertThat(Outboxes.count(database, "SELECT count(*) FROM jobs_of_orders"))
                    .isEqualTo(1);
            assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.SCHEDULED);
            assertThat(Outboxes.count(database, "SELECT count(*) FROM jobs_of_orders"))
                    .isZero();
        }
    }

    private static long roundedUpMs(Instant instant) {
        return instant.plusNanos(999_999).toEpochMilli();
    }
}

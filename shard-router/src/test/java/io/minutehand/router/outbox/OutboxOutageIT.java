package io.minutehand.router.outbox;

import static io.minutehand.router.outbox.Outboxes.TOPIC;
import static io.minutehand.router.outbox.Outboxes.await;
import static io.minutehand.router.outbox.Outboxes.begin;
import static io.minutehand.router.outbox.Outboxes.commit;
import static io.minutehand.router.outbox.Outboxes.find;
import static io.minutehand.router.outbox.Outboxes.job;
import static io.minutehand.router.outbox.Outboxes.rows;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.PostgresServer;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Redis, or the database, is away for a while. */
class OutboxOutageIT {
    private static final OutboxSettings QUICK =
            OutboxSettings.defaults().withPeriod(Duration.ofMillis(50)).withLongestBackOff(Duration.ofMillis(200));

    @Test
    void shouldScheduleWhenRedisIsBackAndKeepTheRowsUntilThen() throws Exception {
        try (RedisServer server = RedisServer.start();
                PostgresSchema schema = SharedPostgres.newSchema(OutboxOutageIT.class);
                HikariDataSource database = Outboxes.pool(schema);
                JobRouter router = JobRouter.builder()
                        .redis(Outboxes.redis(server).withReplyTimeout(Duration.ofSeconds(1)))
                        .deadline(Duration.ofSeconds(2))
                        .connect();
                JobOutbox outbox = Outboxes.open(router, database, QUICK, Steps.NONE);
                OutboxRelay relay = OutboxRelay.start(outbox)) {
            commit(outbox, database, "before");
            await("a job before the outage").until(() -> relay.stats().scheduled() == 1);
            server.kill();
            OutboxJob told;
            try (Connection connection = begin(database)) {
                told = outbox.schedule(connection, TOPIC, job("told"));
                connection.commit();
            }
            // The relay may hold the row at that moment: then this one does not find it.
            assertThat(told.committed().get(60, TimeUnit.SECONDS)).isIn(Delivery.POSTPONED, Delivery.NOT_FOUND);
            commit(outbox, database, "not.told");
            await("the relay says so").until(() -> relay.stats().trouble() != null);
            assertThat(rows(database)).isEqualTo(2);

            server.restart();
            await("the table is empty").until(() -> rows(database) == 0);
            await("the trouble is over").until(() -> relay.stats().trouble() == null);
            assertThat(Outboxes.found(router, List.of("told", "not.told"))).hasSize(2);
        }
    }

    @Test
    void shouldTakeWhatIsDueFirstAfterAnOutageInWhichItWentOn() throws Exception {
        try (RedisServer server = RedisServer.start();
                PostgresSchema schema = SharedPostgres.newSchema(OutboxOutageIT.class);
                HikariDataSource database = Outboxes.pool(schema);
                JobRouter router = JobRouter.builder()
                        .redis(Outboxes.redis(server).withReplyTimeout(Duration.ofSeconds(1)))
                        .deadline(Duration.ofSeconds(5))
                        .connect();
                JobOutbox outbox = Outboxes.open(router, database, QUICK.withPageRows(2), Steps.NONE)) {
            List<String> ids = List.of("in1", "in2", "in3", "in4", "in5", "in6", "in7", "in8");
            try (Connection connection = begin(database)) {
                for (int i = 0; i < ids.size(); i++) {
                    outbox.schedule(connection, TOPIC, job(ids.get(i)).after(Duration.ofHours(i + 1)));
                }
                connection.commit();
            }
            OutboxRelay relay = new OutboxRelay(outbox);
            server.kill();
            relay.runOnce();
            relay.runOnce();
            assertThat(relay.stats().scheduled()).isZero();
            server.restart();
            await("Redis takes jobs")
                    .until(() -> router.schedule(TOPIC, job("other")).join().status() == ScheduleResult.Status.CREATED);

            relay.runOnce();
            relay.runOnce();

            assertThat(Outboxes.found(router, ids)).containsExactly("in1", "in2", "in5", "in6");
            relay.runOnce();
            relay.runOnce();
            assertThat(rows(database)).isZero();
        }
    }

    @Test
    void shouldNotTellOfADatabaseThatIsBackWhenThereIsNothingToDo() throws Exception {
        try (PostgresSchema schema = SharedPostgres.newSchema(OutboxOutageIT.class);
                HikariDataSource database = Outboxes.pool(schema);
                JobRouter router = JobRouter.builder().redis(Outboxes.redis()).connect();
                JobOutbox outbox = Outboxes.open(router, database, QUICK, Steps.NONE)) {
            OutboxRelay relay = new OutboxRelay(outbox);
            Outboxes.update(database, "ALTER TABLE minutehand_outbox RENAME TO elsewhere");
            relay.runOnce();
            assertThat(relay.stats().trouble()).contains("minutehand_outbox");
            Outboxes.update(database, "ALTER TABLE elsewhere RENAME TO minutehand_outbox");
            relay.runOnce();
            assertThat(relay.stats().trouble()).isNull();
        }
    }

    @Test
    void shouldGoOnWhenTheDatabaseIsBack() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JobRouter router = JobRouter.builder().redis(Outboxes.redis()).connect();
                JobOutbox outbox = Outboxes.open(router, server.dataSource(), QUICK, Steps.NONE);
                OutboxRelay relay = OutboxRelay.start(outbox)) {
            OutboxJob told;
            try (Connection connection = begin(server.dataSource())) {
                told = outbox.schedule(connection, TOPIC, job("told"));
                connection.commit();
                server.kill();
            }
            assertThat(told.committed().get(60, TimeUnit.SECONDS))
                    .isIn(Delivery.POSTPONED, Delivery.NOT_FOUND, Delivery.SCHEDULED);
            await("the relay says so").until(() -> relay.stats().trouble() != null);
            server.restart();
            await("the job is there").until(() -> find(router, "told").isPresent());
            commit(outbox, server.dataSource(), "after");
            await("a job after the outage").until(() -> find(router, "after").isPresent());
            await("the table is empty").until(() -> rows(server.dataSource()) == 0);
            await("the trouble is over").until(() -> relay.stats().trouble() == null);
        }
    }
}

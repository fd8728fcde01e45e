package io.minutehand.router.outbox;

import static io.minutehand.router.outbox.Outboxes.TOPIC;
import static io.minutehand.router.outbox.Outboxes.begin;
import static io.minutehand.router.outbox.Outboxes.count;
import static io.minutehand.router.outbox.Outboxes.job;
import static io.minutehand.router.outbox.Outboxes.rows;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.router.JobRouter;
import io.minutehand.router.PlayedNode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process dies between the commit and its end, 200 times: each committed order has one job, each rolled-back one none. */
class OutboxCrashIT {
    private static final Logger log = LoggerFactory.getLogger(OutboxCrashIT.class);

    private static final int CRASHES = 200;
    private static final int MOST_PASSES = 2000;

    /** Where a pass dies. */
    private enum Point {
        CLAIMED,
        SENT,
        SETTLED
    }

    private static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Crash(Point point) {
            super("injected after " + point);
        }
    }

    /** Kills the next pass that comes to the point that is set: all that it leaves is what it has sent. */
    private static final class Crashes implements Steps {
        private volatile Point next;
        private volatile int count;

        @Override
        public void claimed() {
            dieAt(Point.CLAIMED);
        }

        @Override
        public void sent() {
            dieAt(Point.SENT);
        }

        @Override
        public void settled() {
            dieAt(Point.SETTLED);
        }

        private synchronized void dieAt(Point point) {
            if (next == point) {
                next = null;
                count++;
                throw new Crash(point);
            }
        }
    }

    private final RedisOptions redis = Outboxes.redis();

    @Test
    void shouldHaveOneJobForEachCommittedOrderAndNoneForTheOthers() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Crashes crashes = new Crashes();
        List<String> committed = new ArrayList<>();
        List<String> rolledBack = new ArrayList<>();
        int neverTold = 0;
        int relayCrashes = 0;
        try (PostgresSchema schema = SharedPostgres.newSchema(OutboxCrashIT.class);
                HikariDataSource database = Outboxes.pool(schema);
                JobRouter router = JobRouter.builder().redis(redis).connect();
                JobOutbox outbox = Outboxes.open(router, database, OutboxSettings.defaults(), crashes);
                Connection connection = begin(database);
                PreparedStatement insert = connection.prepareStatement("INSERT INTO orders VALUES (?)")) {
            connection.createStatement().execute("CREATE TABLE orders (id varchar(40) PRIMARY KEY)");
            connection.commit();
            OutboxRelay relay = new OutboxRelay(outbox);
            for (int order = 0; crashes.count + neverTold < CRASHES; order++) {
                String id = "close:" + order;
                insert.setString(1, id);
                insert.executeUpdate();
                OutboxJob job = outbox.schedule(connection, TOPIC, job(id));
                if (random.nextInt(4) == 0) {
                    connection.rollback();
                    rolledBack.add(id);
                    continue;
                }
                connection.commit();
                committed.add(id);
                if (random.nextInt(4) == 0) {
                    neverTold++;
                } else {
                    crashes.next = Point.values()[random.nextInt(3)];
                    assertThat(job.committed().get(30, TimeUnit.SECONDS)).isEqualTo(Delivery.POSTPONED);
                }
                if (random.nextInt(20) == 0) {
                    // A relay on the way, that dies as well.
                    crashes.next = Point.values()[random.nextInt(3)];
                    relay.runOnce();
                    relayCrashes++;
                }
            }
            assertThat(count(database, "SELECT count(*) FROM orders")).isEqualTo(committed.size());
            for (int pass = 0; rows(database) > 0; pass++) {
                assertThat(pass).as("passes of the relay, seed=%d", seed).isLessThan(MOST_PASSES);
                relay.runOnce();
            }

            assertThat(Outboxes.found(router, committed)).as("seed=%d", seed).isEqualTo(committed);
            assertThat(Outboxes.found(router, rolledBack)).as("seed=%d", seed).isEmpty();
            try (PlayedNode node = new PlayedNode(redis, TOPIC, TopicSettings.defaults())) {
                assertThat(node.pending()).as("seed=%d", seed).isEqualTo(committed.size());
            }
        }
        log.info(
                "outbox crashes: seed={} committed={} rolledBack={} neverTold={} passesKilled={} ofThem byRelay={}",
                seed,
                committed.size(),
                rolledBack.size(),
                neverTold,
                crashes.count,
                relayCrashes);
    }
}

package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.minutehand.core.admin.Admin;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.JobRouter;
import io.minutehand.router.PlayedNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopicMetersIT {
    private static final TopicSettings SETTINGS = TopicSettings.defaults().withShards(3);

    private final RedisServer server = RedisServer.start();
    private final RedisOptions redis = RedisOptions.of(server.uri()).withNamespace("meters");
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private JobRouter router;
    private StoreConnection connection;
    private TopicMeters meters;

    @BeforeEach
    void open() {
        router = JobRouter.builder()
                .redis(redis)
                .declare("orders", SETTINGS)
                .declare("nobody", SETTINGS)
                .connect();
        connection = StoreConnection.open(redis);
        meters = new TopicMeters(connection, registry, Duration.ofSeconds(1));
    }

    @AfterEach
    void close() {
        meters.close();
        connection.close();
        router.close();
        server.close();
    }

    @Test
    void shouldTellWhatLiesInRedisAndForgetItWhenRedisIsAway() {
        Instant before = Instant.now();
        for (String id : new String[] {"running", "dead"}) {
            schedule("orders", id, Duration.ZERO);
        }
        try (PlayedNode node = new PlayedNode(redis, "orders", SETTINGS)) {
            node.take("running");
            node.bury(node.take("dead"));
        }
        schedule("orders", "later", Duration.ofMinutes(10));
        schedule("nobody", "overdue", Duration.ZERO);
        schedule("nobody", "overdue-too", Duration.ZERO);

        meters.round();

        assertThat(value("minutehand.topic.pending", "orders")).isEqualTo(1);
        assertThat(value("minutehand.topic.inflight", "orders")).isEqualTo(1);
        assertThat(value("minutehand.topic.dead", "orders")).isEqualTo(1);
        assertThat(value("minutehand.topic.ledger.difference", "orders")).isZero();
        assertThat(value("minutehand.topic.oldest.due.seconds", "orders"))
                .as("none is due")
                .isZero();
        assertThat(value("minutehand.topic.pending", "nobody")).isEqualTo(2);
        await("it has waited").untilAsserted(() -> {
            meters.round();
            assertThat(value("minutehand.topic.oldest.due.seconds", "nobody"))
                    .isPositive()
                    .isLessThanOrEqualTo(Duration.between(before, Instant.now()).toMillis() / 1000.0 + 1);
        });
        assertThat(registry.get("minutehand.redis.risk")
                        .tag("setting", "appendonly")
                        .tag("level", "WARNING")
                        .gauge()
                        .value())
                .isEqualTo(1);

        Admin admin = new Admin(connection, Duration.ofSeconds(10));
        admin.pause(admin.topic("nobody").orElseThrow(), null);
        meters.round();
        assertThat(value("minutehand.topic.paused", "nobody")).isEqualTo(1);
        assertThat(value("minutehand.topic.paused", "orders")).isZero();

        falsify(new ShardId("nobody", 0), "accepted", 5);
        falsify(new ShardId("nobody", 1), "accepted", -2);
        meters.round();
        assertThat(value("minutehand.topic.ledger.difference", "nobody"))
                .as("amounts of different shards do not cancel each other out")
                .isEqualTo(7);

        server.kill();
        meters.round();
        assertThat(value("minutehand.topic.pending", "orders"))
                .as("old numbers would look like good news")
                .isNull();
        assertThat(registry.find("minutehand.redis.risk").gauge()).isNull();
    }

    private void schedule(String topic, String id, Duration after) {
        router.topic(topic)
                .schedule(
                        JobSpec.of("{}".getBytes(StandardCharsets.UTF_8)).id(id).after(after))
                .join();
    }

    /** Changes a counter behind the scheduler's back. */
    private void falsify(ShardId shard, String counter, long by) {
        try (RedisCommands commands = server.connect()) {
            commands.call("HINCRBY", new Keyspace(redis.namespace()).ledger(shard), counter, by);
        }
    }

    private @Nullable Double value(String name, String topic) {
        Gauge gauge = registry.find(name).tag("topic", topic).gauge();
        return gauge == null ? null : gauge.value();
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Gauge;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LedgerWatchIT {
    private final RedisOptions redis = Workers.ownNamespace();
    private final Keyspace keys = new Keyspace(redis.namespace());
    private final TopicSettings settings = TopicSettings.defaults().withShards(2);

    @Test
    void shouldNoticeThatALedgerDoesNotAddUp() {
        try (Jobs jobs = new Jobs(redis, "orders", settings);
                Workers workers = new Workers(redis);
                RedisCommands commands = SharedRedis.get().connect()) {
            WorkerNode node = workers.start(
                    "watcher",
                    builder -> builder.settings(Workers.FAST.withLedgerCheck(Duration.ofMillis(200)))
                            .handle("orders", (payload, job) -> {}));
            jobs.now("a");
            await("the job is done").until(() -> jobs.counter("done") == 1);

            commands.call("HINCRBY", keys.ledger(new ShardId("orders", 0)), "accepted", 2);
            commands.call("HINCRBY", keys.ledger(new ShardId("orders", 1)), "accepted", -1);
            await("the alarm").until(() -> gauged(node) == 3);
            commands.call("HINCRBY", keys.ledger(new ShardId("orders", 0)), "accepted", -2);
            commands.call("HINCRBY", keys.ledger(new ShardId("orders", 1)), "accepted", 1);
            await("the end of the alarm").until(() -> gauged(node) == 0);
        }
    }

    @Test
    void shouldRunJobsWhateverLeaseOrNodeIsTakenAway() {
        try (Jobs jobs = new Jobs(redis, "orders", settings);
                Workers workers = new Workers(redis);
                RedisCommands commands = SharedRedis.get().connect()) {
            WorkerNode node = workers.start("robbed", "orders", (payload, job) -> {});
            long due = jobs.nowMs() + 3000;
            jobs.schedule("later", due, "{}");
            BucketId bucket = new BucketId(jobs.shardOf("later"), Minutes.of(due));
            await("the claim").until(() -> node.stats().heldBuckets().contains(bucket));

            assertThat(commands.number("DEL", keys.lease(bucket))).isOne();
            await("the job").atMost(Duration.ofSeconds(20)).until(() -> jobs.counter("done") == 1);

            String id = node.id();
            assertThat(commands.number("ZREM", keys.nodes(), id)).isOne();
            jobs.now("after");
            await("the node's return")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> !node.id().equals(id) && node.ready());
            await("the next job").atMost(Duration.ofSeconds(20)).until(() -> jobs.counter("done") == 2);
            assertThat(jobs.missing()).isZero();
        }
    }

    private static long gauged(WorkerNode node) {
        return node.recorders().gauged(Gauge.LEDGER_DIFF, "orders");
    }
}

package io.minutehand.testkit;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobId;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.MoveOutcome;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.ShardStats;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.JobRouter;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A real Redis for the tests of an application, and a way to run jobs without waiting for their time.
 *
 * <pre>
 * &#64;RegisterExtension
 * final MinutehandExtension minutehand = new MinutehandExtension();
 *
 * &#64;Test
 * void shouldCloseTheOrder() {
 *     try (JobRouter router = minutehand.router().connect();
 *             WorkerNode node = minutehand.worker().handle("orders", Order.class, handler).start()) {
 *         router.topic("orders", Order.class).schedule(JobSpec.of(order).after(Duration.ofMinutes(30))).join();
 *         minutehand.fire("orders", Duration.ofMinutes(30));
 *         minutehand.awaitIdle("orders", Duration.ofSeconds(10));
 *         ...
 * </pre>
 *
 * <p>One server serves all tests of a JVM: an address in {@code MINUTEHAND_REDIS}, or Docker, or a {@code redis-server} on the PATH, or an
 * embedded binary. Each test gets a namespace of its own, which is deleted after it. Works with JUnit 5 and 6. Not for tests that use one
 * instance from several threads.
 */
public final class MinutehandExtension implements BeforeEachCallback, AfterEachCallback {
    private static final Duration CALL = Duration.ofSeconds(10);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int SCAN_COUNT = 1000;

    private @Nullable String namespace;

    @Override
    public void beforeEach(ExtensionContext context) {
        SharedRedis.get();
        namespace = "test-" + JobId.random().substring(0, 12);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        try (RedisCommands commands = server().connect()) {
            String cursor = "0";
            do {
                List<?> page =
                        (List<?>) commands.call("SCAN", cursor, "MATCH", namespace() + ":*", "COUNT", SCAN_COUNT);
                if (page == null) {
                    return;
                }
                cursor = text(page.get(0));
                List<Object> words = new ArrayList<>(List.of("UNLINK"));
                ((List<?>) page.get(1)).forEach(key -> words.add(text(key)));
                if (words.size() > 1) {
                    commands.call(words.toArray());
                }
            } while (!cursor.equals("0"));
        }
        namespace = null;
    }

    /** The server and the namespace of this test. */
    public RedisOptions redis() {
        return RedisOptions.of(server().uri().toString()).withNamespace(namespace());
    }

    /** A router for this test; the caller connects and closes it. */
    public JobRouter.Builder router() {
        return JobRouter.builder().redis(redis());
    }

    /** A node for this test; the caller adds handlers, starts and closes it. */
    public WorkerNode.Builder worker() {
        return WorkerNode.builder().redis(redis()).name("test");
    }

    /**
     * Makes every job of a topic that is due within {@code ahead} due now, retries that wait included; blocks until all are moved. What is
     * in flight or ended stays.
     *
     * @return how many jobs were moved; 0 for a topic that does not exist
     */
    public int fire(String topic, Duration ahead) {
        TopicName.require(topic);
        try (StoreConnection connection = StoreConnection.open(redis());
                RedisCommands commands = server().connect()) {
            JobStore store = connection.jobs(Runnable::run);
            int moved = 0;
            for (ShardId shard : shards(connection, topic)) {
                store.stats(shard).join();
                long nowMs = store.clock(shard).nowMs();
                moved += fire(store, connection.keys(), commands, shard, nowMs, nowMs + ahead.toMillis());
            }
            return moved;
        }
    }

    private static int fire(
            JobStore store, Keyspace keys, RedisCommands commands, ShardId shard, long nowMs, long untilMs) {
        List<CompletableFuture<MoveOutcome>> moves = new ArrayList<>();
        for (String minute : commands.texts("ZRANGE", keys.index(shard), 0, -1)) {
            String bucket = keys.bucket(new BucketId(shard, Long.parseLong(minute)));
            for (String member : commands.texts("ZRANGEBYSCORE", bucket, "(" + nowMs, untilMs)) {
                moves.add(store.reschedule(shard, ShardMap.idOf(member), nowMs, deadlineNs(CALL)));
            }
        }
        return (int) moves.stream()
                .map(CompletableFuture::join)
                .filter(outcome -> outcome.status() == MoveOutcome.Status.MOVED)
                .count();
    }

    /**
     * Waits until nothing of a topic is in flight and nothing that is pending is due.
     *
     * @throws IllegalStateException when that does not come true in time; tells what is left
     */
    public void awaitIdle(String topic, Duration timeout) {
        TopicName.require(topic);
        long deadlineNs = deadlineNs(timeout);
        try (StoreConnection connection = StoreConnection.open(redis());
                RedisCommands commands = server().connect()) {
            JobStore store = connection.jobs(Runnable::run);
            while (true) {
                long inFlight = 0;
                long due = 0;
                for (ShardId shard : shards(connection, topic)) {
                    // Due jobs first: one that is popped between the two questions is then counted twice, not missed.
                    due += due(store, connection.keys(), commands, shard);
                    inFlight +=
                            store.stats(shard).thenApply(ShardStats::inFlight).join();
                }
                if (inFlight == 0 && due == 0) {
                    return;
                }
                if (System.nanoTime() - deadlineNs > 0) {
                    throw new IllegalStateException("topic=" + topic + " is not idle after " + timeout + ": due=" + due
                            + " in_flight=" + inFlight + "; is a node with a handler for it running?");
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private static long due(JobStore store, Keyspace keys, RedisCommands commands, ShardId shard) {
        store.stats(shard).join();
        long nowMs = store.clock(shard).nowMs();
        long due = 0;
        for (String minute : commands.texts("ZRANGE", keys.index(shard), 0, -1)) {
            due += commands.number("ZCOUNT", keys.bucket(new BucketId(shard, Long.parseLong(minute))), "-inf", nowMs);
        }
        return due;
    }

    private static List<ShardId> shards(StoreConnection connection, String topic) {
        List<ShardId> shards = new ArrayList<>();
        for (StoredTopic stored :
                connection.cluster(Runnable::run).topics(deadlineNs(CALL)).join()) {
            if (stored.topic().equals(topic)) {
                shards.addAll(stored.shards());
            }
        }
        return shards;
    }

    private static long deadlineNs(Duration timeout) {
        return System.nanoTime() + timeout.toNanos();
    }

    private static RedisInstance server() {
        return SharedRedis.get();
    }

    private String namespace() {
        String current = namespace;
        if (current == null) {
            throw new IllegalStateException("no test runs: register the extension with @RegisterExtension on a field");
        }
        return current;
    }

    private static String text(@Nullable Object reply) {
        return reply instanceof byte[] bytes
                ? new String(bytes, java.nio.charset.StandardCharsets.UTF_8)
                : String.valueOf(reply);
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.WriteResult;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Redis that forgets scripts and subscriptions, is full, or is emptied, while jobs flow. */
class RedisFaultsIT {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int SHARDS = 4;
    private static RedisServer server;

    private final RedisOptions redis = Workers.ownNamespace(server.uri());

    /** Nothing here is about replies that are late: no error may come of that. */
    private final Workers workers = new Workers(redis.withReplyTimeout(Duration.ofSeconds(5)));

    private final Runs runs = new Runs();
    private final ScheduledExecutorService nemesis = Executors.newSingleThreadScheduledExecutor();
    private RedisCommands commands;
    private Jobs jobs;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        commands = server.connect();
        jobs = new Jobs(
                redis,
                "orders",
                TopicSettings.defaults().withShards(SHARDS).withRetry(RetryPolicy.fixed(Duration.ofMillis(200), 3)));
    }

    @AfterEach
    void close() {
        nemesis.shutdownNow();
        workers.close();
        jobs.close();
        commands.close();
    }

    private void everyMs(long periodMs, Runnable fault) {
        nemesis.scheduleAtFixedRate(fault, 0, periodMs, TimeUnit.MILLISECONDS);
    }

    private void start(int nodes, JobHandler<byte[]> handler) {
        for (int i = 0; i < nodes; i++) {
            String name = "n" + i;
            workers.start(name, "orders", (payload, job) -> {
                runs.add(name, job);
                handler.handle(payload, job);
            });
        }
        await("all own shards")
                .atMost(LONG)
                .until(() ->
                        workers.all().stream().allMatch(node -> node.stats().ownedShards() > 0)
                                && workers.all().stream()
                                                .mapToInt(node -> node.stats().ownedShards())
                                                .sum()
                                        == SHARDS);
    }

    private void stream(String prefix, int count, int everyMs) {
        List<NewJob> batch = new ArrayList<>();
        long base = jobs.nowMs() + 200;
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job(prefix + i, base + (long) everyMs * i, "{}"));
        }
        assertThat(jobs.scheduleAll(batch)).allMatch(result -> result.status().accepted());
    }

    @Test
    void shouldNotNoticeThatRedisForgetsItsScripts() {
        start(2, (payload, job) -> {
            if (job.attempt() == 1 && job.id().endsWith("7")) {
                throw new IllegalStateException("fails once");
            }
        });
        AtomicInteger flushes = new AtomicInteger();
        everyMs(200, () -> {
            commands.call("SCRIPT", "FLUSH");
            flushes.incrementAndGet();
        });
        stream("job-", 1000, 4);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == 1000);
        nemesis.shutdownNow();
        System.out.println("script flush: flushes=" + flushes + " " + runs.lateness());
        assertThat(flushes.get()).as("flushes under load").isGreaterThan(5);
        assertThat(runs.size()).isEqualTo(1100);
        assertThat(runs.duplicates()).isZero();
        assertThat(workers.counted(Counter.STORE_ERRORS)).as("errors").isZero();
        assertThat(workers.counted(Counter.STALE)).isZero();
        assertThat(jobs.missing()).isZero();
    }

    /** Each job comes to a shard of its own, so that its owner sleeps as long as owners do. */
    @Test
    void shouldStartEveryJobInTimeAlthoughItsHintsAreLost() {
        start(1, (payload, job) -> {});
        AtomicInteger kills = new AtomicInteger();
        everyMs(100, () -> {
            commands.call("CLIENT", "KILL", "TYPE", "pubsub");
            kills.incrementAndGet();
        });
        int idleKills = (int) (2 * Workers.FAST.idleLook().toMillis() / 100);
        await("idle").atMost(LONG).until(() -> kills.get() > idleKills);
        for (int round = 0; round < 5; round++) {
            String prefix = "job-" + round + "-";
            long dueMs = jobs.nowMs() + 50;
            for (String id : oneOfEachShard(prefix)) {
                jobs.schedule(id, dueMs, "{}");
            }
            await("all of a round")
                    .atMost(LONG)
                    .until(() -> runs.ids().stream()
                                    .filter(id -> id.startsWith(prefix))
                                    .count()
                            == SHARDS);
        }
        nemesis.shutdownNow();
        System.out.println("without hints: kills=" + kills + " " + runs.lateness());
        assertThat(runs.worstLatenessMs()).as("2.2 s, and a busy machine").isLessThan(2200 + 1000);
        await("hints are heard again").atMost(LONG).until(() -> {
            long heard = workers.counted(Counter.WOKEN);
            oneOfEachShard("hint-" + System.nanoTime() + "-").forEach(id -> jobs.schedule(id, jobs.nowMs() + 50, "{}"));
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == jobs.counter("accepted"));
            return workers.counted(Counter.WOKEN) >= heard + SHARDS;
        });
    }

    private List<String> oneOfEachShard(String prefix) {
        Map<ShardId, String> ids = new HashMap<>();
        for (int i = 0; ids.size() < SHARDS; i++) {
            ids.putIfAbsent(jobs.shardOf(prefix + i), prefix + i);
        }
        return List.copyOf(ids.values());
    }

    @Test
    void shouldGoOnDrainingAFullRedis() {
        start(1, (payload, job) -> {
            if (job.attempt() == 1 && job.id().endsWith("3")) {
                throw new IllegalStateException("fails once");
            }
        });
        stream("job-", 600, 5);
        commands.call("CONFIG", "SET", "maxmemory", "1mb");
        try {
            WriteResult refused = jobs.schedule("refused", jobs.nowMs(), "{}");
            assertThat(refused.status()).isEqualTo(WriteResult.Status.STORE_FULL);
            // A node that joins now must beat, describe itself and claim, all in a full Redis.
            workers.start("late", "orders", runs.handler("late"));
            await("the newcomer shares the shards")
                    .atMost(LONG)
                    .until(() -> workers.all().get(1).stats().ownedShards() > 0);
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == 600);
            assertThat(commands.info("memory").get("maxmemory")).isEqualTo("1048576");
        } finally {
            commands.call("CONFIG", "SET", "maxmemory", "0");
        }
        System.out.println("full: " + runs.lateness());
        assertThat(runs.duplicates()).isZero();
        assertThat(runs.ids()).hasSize(600).doesNotContain("refused");
        assertThat(jobs.missing()).isZero();
        // Leases of a minute that begins while Redis is full are claimed by the script; here a topic that nobody leased
        // yet shows it.
        assertThat(jobs.schedule("accepted", jobs.nowMs(), "{}").status().accepted())
                .isTrue();
        await("works on").atMost(LONG).until(() -> runs.ids().contains("accepted"));
        assertThat(workers.counted(Counter.STALE)).isZero();
    }

    @Test
    void shouldClaimBucketsOfAFullRedis() {
        stream("job-", 100, 10);
        commands.call("CONFIG", "SET", "maxmemory", "1mb");
        try {
            workers.start("n0", "orders", runs.handler("n0"));
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == 100);
            assertThat(workers.counted(Counter.CLAIMED)).isPositive();
            assertThat(workers.counted(Counter.STORE_ERRORS)).isZero();
        } finally {
            commands.call("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(runs.duplicates()).isZero();
    }

    @Test
    void shouldComeBackUnderOtherIdsWhenRedisIsEmptied() {
        start(2, (payload, job) -> {});
        Set<String> ids = workers.all().stream().map(WorkerNode::id).collect(Collectors.toSet());
        stream("before-", 50, 2);
        await("done before").atMost(LONG).until(() -> jobs.counter("done") == 50);
        stream("gone-", 50, 200);
        commands.call("FLUSHALL");
        await("both are members under other ids")
                .atMost(LONG)
                .until(() -> workers.all().stream().allMatch(node -> node.ready() && !ids.contains(node.id()))
                        && workers.all().stream()
                                        .mapToInt(node -> node.stats().ownedShards())
                                        .sum()
                                == SHARDS);
        stream("after-", 200, 5);
        await("new jobs run")
                .atMost(LONG)
                .until(() ->
                        runs.ids().stream().filter(id -> id.startsWith("after")).count() == 200);
        await("their outcomes are stored").atMost(LONG).until(() -> jobs.counter("done") >= 200);
        assertThat(runs.all().stream().filter(run -> run.id().startsWith("after")))
                .hasSize(200);
        assertThat(commands.number("HEXISTS", jobs.connection().keys().topics(), "orders"))
                .as("the topic is declared again")
                .isEqualTo(1);
        assertThat(jobs.missing()).isZero();
    }
}

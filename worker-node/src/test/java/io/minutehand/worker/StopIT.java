package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A node that is stopped in good order. */
class StopIT {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final RedisOptions redis = Workers.ownNamespace();
    private final Runs runs = new Runs();

    private static TopicSettings settings() {
        return TopicSettings.defaults().withShards(4);
    }

    private static boolean holdsAnything(Jobs jobs, String nodeId) {
        try (RedisCommands commands = SharedRedis.get().connect()) {
            for (String key : commands.texts("KEYS", jobs.connection().keys().namespace() + ":*")) {
                if (key.contains(":lease:")
                        && commands.texts("HKEYS", key).toString().contains(nodeId)) {
                    return true;
                }
                if (key.endsWith(":inflight")
                        && commands.texts("ZRANGE", key, 0, -1).toString().contains(nodeId)) {
                    return true;
                }
            }
            return commands.texts("ZRANGE", jobs.connection().keys().nodes(), 0, -1)
                    .contains(nodeId);
        }
    }

    @Test
    void shouldHandEverythingOverWithoutALossOrADuplicate() {
        try (Jobs jobs = new Jobs(redis, "orders", settings());
                Workers workers = new Workers(redis)) {
            Map<String, WorkerNode> nodes = new ConcurrentHashMap<>();
            for (String name : List.of("n0", "n1")) {
                nodes.put(name, workers.start(name, "orders", (payload, job) -> {
                    runs.add(name, job);
                    Thread.sleep(30);
                }));
            }
            WorkerNode stopped = nodes.get("n0");
            await("both own shards")
                    .atMost(LONG)
                    .until(() -> nodes.values().stream()
                            .allMatch(node -> node.stats().ownedShards() > 0));
            long base = jobs.nowMs() + 300;
            List<NewJob> batch = new ArrayList<>();
            for (int i = 0; i < 1500; i++) {
                batch.add(Jobs.job("job-" + i, base + 3L * i, "{}"));
            }
            jobs.scheduleAll(batch);
            await("under load").atMost(LONG).until(() -> runs.size() > 300);
            String id = stopped.id();
            long beganNs = System.nanoTime();
            stopped.close();
            long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
            assertThat(holdsAnything(jobs, id)).as("nothing stays behind").isFalse();
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == 1500);
            System.out.printf(
                    "stop: took ms=%d nacked=%d %s%n", tookMs, workers.counted(Counter.NACKED), runs.lateness());
            assertThat(runs.size()).isEqualTo(1500);
            assertThat(runs.duplicates()).isZero();
            assertThat(runs.early()).isZero();
            assertThat(runs.all()).allMatch(run -> run.attempt() == 1 && run.delivery() == 1);
            assertThat(runs.worstLatenessMs()).as("ms late because of the stop").isLessThan(4000);
            assertThat(jobs.missing()).isZero();
            assertThat(workers.counted(Counter.STALE)).isZero();
            assertThat(stopped.ready()).isFalse();
            assertThat(stopped.name()).isEqualTo("n0");
        }
    }

    @Test
    void shouldHandBackWhatRunsAtTheEndOfTheGrace() {
        try (Jobs jobs = new Jobs(redis, "orders", settings());
                Workers workers = new Workers(redis)) {
            Map<String, Boolean> seen = new ConcurrentHashMap<>();
            WorkerNode node = workers.start(
                    "n0",
                    builder -> builder.settings(Workers.FAST.withStopGrace(Duration.ofMillis(700)))
                            .handle("orders", (payload, job) -> {
                                runs.add("n0", job);
                                try {
                                    Thread.sleep(60_000);
                                } catch (InterruptedException e) {
                                    seen.put("still mine", job.isStillMine());
                                    throw e;
                                }
                            }));
            jobs.now("a");
            await("started").atMost(LONG).until(() -> runs.size() == 1);
            long beganNs = System.nanoTime();
            CompletableFuture<Void> second = CompletableFuture.runAsync(() -> {
                await("first close").atMost(LONG).until(() -> !node.ready());
                node.close();
            });
            node.close();
            long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
            assertThat(tookMs).as("ms, with a grace of 700").isBetween(650L, 4700L);
            second.orTimeout(30, TimeUnit.SECONDS).join();
            await("interrupted").atMost(LONG).until(() -> seen.containsKey("still mine"));
            assertThat(seen).as("handed back is not mine").containsEntry("still mine", false);
            var pending = jobs.find("a").orElseThrow();
            assertThat(pending.state()).isEqualTo(JobState.PENDING);
            assertThat(pending.job().attempt()).isEqualTo(1);
            Runs after = new Runs();
            workers.start("n1", "orders", after.handler("n1"));
            await("runs elsewhere").atMost(LONG).until(() -> jobs.counter("done") == 1);
            assertThat(after.attempts("a")).as("no attempt was counted").containsExactly(1);
            assertThat(after.of("a").get(0).delivery()).isEqualTo(1);
            assertThat(after.of("a").get(0).dueMs())
                    .as("due when it was, so that its lateness shows")
                    .isEqualTo(runs.of("a").get(0).dueMs());
        }
    }

    @Test
    void shouldHandBackSuspectsThatWaitInLine() {
        try (Jobs jobs = new Jobs(redis, "orders", settings());
                Workers workers = new Workers(redis)) {
            for (int i = 0; i < 5; i++) {
                jobs.schedule("old-" + i, jobs.nowMs(), "{}");
                Records.delivered(jobs, "old-" + i, 1);
            }
            WorkerNode node = workers.start("n0", "orders", (payload, job) -> {
                runs.add("n0", job);
                Thread.sleep(1000);
            });
            await("one runs, others wait")
                    .atMost(LONG)
                    .until(() -> runs.size() == 1 && node.stats().inFlight() >= 3);
            node.close();
            assertThat(runs.size()).as("the one that ran could finish").isEqualTo(1);
            assertThat(jobs.counter("done")).isEqualTo(1);
            assertThat(holdsAnything(jobs, node.id())).isFalse();
            assertThat(jobs.counter("pending") + jobs.inFlight()).isEqualTo(4);
            assertThat(jobs.missing()).isZero();
        }
    }

    @Test
    void shouldStopInTimeWhileRedisIsAway() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            RedisOptions own = RedisOptions.of(server.uri());
            Jobs jobs = new Jobs(own, "orders", settings());
            WorkerNode node = WorkerNode.builder()
                    .redis(own)
                    .settings(Workers.FAST.withStopGrace(Duration.ofSeconds(1)))
                    .handle("orders", (payload, job) -> {
                        runs.add("n0", job);
                        Thread.sleep(500);
                    })
                    .start();
            try {
                jobs.now("a");
                await("started").atMost(LONG).until(() -> runs.size() == 1);
                server.pause();
                long beganNs = System.nanoTime();
                node.close();
                long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
                System.out.println("stop: without Redis took ms=" + tookMs);
                assertThat(tookMs).as("ms, with a grace of 1000").isLessThan(1000 + 4000 + 1000);
            } finally {
                server.resume();
                node.close();
                jobs.close();
            }
        }
    }

    @Test
    void shouldStopWithoutWaitingForTheHandlerThatClosesIt() {
        closeFromInside("a", JobState.DONE);
    }

    @Test
    void shouldStopWithoutWaitingForTheCallBackThatClosesIt() {
        closeFromInside("dead", JobState.DEAD);
    }

    private void closeFromInside(String id, JobState end) {
        Duration grace = Duration.ofSeconds(20);
        try (Jobs jobs = new Jobs(redis, "orders", settings());
                Workers workers = new Workers(redis)) {
            CompletableFuture<WorkerNode> started = new CompletableFuture<>();
            Map<String, Long> tookMs = new ConcurrentHashMap<>();
            Consumer<String> close = job -> {
                long beganNs = System.nanoTime();
                started.join().close();
                tookMs.put(job, (System.nanoTime() - beganNs) / 1_000_000);
            };
            WorkerNode node = workers.start(
                    "n0",
                    builder -> builder.settings(Workers.FAST.withStopGrace(grace))
                            .handle(
                                    "orders",
                                    TopicOptions.defaults().onDead((job, cause) -> close.accept(job.id())),
                                    (payload, job) -> {
                                        runs.add("n0", job);
                                        if (job.id().equals("dead")) {
                                            throw Dead.because("no");
                                        }
                                        close.accept(job.id());
                                    }));
            started.complete(node);
            String nodeId = node.id();
            long beganNs = System.nanoTime();
            jobs.now(id);
            await("closed from inside").atMost(LONG).until(() -> tookMs.containsKey(id));
            node.close();
            long allMs = (System.nanoTime() - beganNs) / 1_000_000;
            assertThat(allMs).as("ms, with a grace of %s", grace).isLessThan(grace.toMillis() / 2);
            assertThat(jobs.find(id).orElseThrow().state()).isEqualTo(end);
            assertThat(runs.size()).isEqualTo(1);
            assertThat(holdsAnything(jobs, nodeId)).isFalse();
        }
    }

    @Test
    void shouldLeaveAConnectionOpenThatIsNotItsOwn() {
        try (Jobs jobs = new Jobs(redis, "orders", settings())) {
            WorkerNode node = WorkerNode.builder()
                    .connection(jobs.connection())
                    .settings(Workers.FAST)
                    .handle("orders", runs.handler("n0"))
                    .start();
            jobs.now("a");
            await("done").atMost(LONG).until(() -> jobs.counter("done") == 1);
            node.close();
            assertThat(jobs.find("a")).isPresent();
            assertThat(ShardMap.memberOf("a")).endsWith("a");
            assertThat(Thread.getAllStackTraces().keySet().stream().map(Thread::getName))
                    .as("the node's thread has ended")
                    .doesNotContain("minutehand-node");
            try (RedisCommands commands = SharedRedis.get().connect()) {
                List<String> channels = commands.texts(
                        "PUBSUB", "SHARDCHANNELS", jobs.connection().keys().namespace() + ":*");
                assertThat(channels).as("listens to nothing any more").isEmpty();
            }
        }
    }
}

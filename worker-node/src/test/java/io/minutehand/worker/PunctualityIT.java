package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.TestScripts;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When jobs start, at the edges of buckets and of sizes. What is asserted holds on a busy machine; the figures are printed. */
class PunctualityIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    /** The longest sleep of an idle owner, and a busy machine: no job is later, whatever hint is lost. */
    private static final long BOUND_MS = WorkerSettings.defaults().idleLook().toMillis() + 1500;

    /** The same for a node that has more to do than the machine can. */
    private static final long STALL_MS = BOUND_MS + 6000;

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private Jobs jobs;

    @AfterEach
    void close() {
        workers.close();
        jobs.close();
    }

    private WorkerNode start(int shards, JobHandler<byte[]> handler) {
        jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(shards));
        WorkerNode node = workers.start(
                "n0",
                builder -> builder.settings(WorkerSettings.defaults()).handle("orders", (payload, job) -> {
                    runs.add("n0", job);
                    handler.handle(payload, job);
                }));
        return ready(node, shards);
    }

    private static WorkerNode ready(WorkerNode node, int shards) {
        await("owns all").atMost(LONG).until(() -> node.stats().ownedShards() == shards);
        return node;
    }

    private void awaitDone(int count) {
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == count);
        assertThat(runs.size()).isEqualTo(count);
        assertThat(runs.duplicates()).isZero();
        assertThat(runs.early()).isZero();
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldStartASoonJobPromptlyInAnIdleCluster() {
        start(8, (payload, job) -> {});
        for (int i = 0; i < 40; i++) {
            int before = i;
            jobs.schedule("job-" + i, jobs.nowMs() + 50, "{}");
            await("started").atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> runs.size() > before);
        }
        awaitDone(40);
        System.out.println("punctuality: soon, idle and warm: " + runs.lateness());
        assertThat(runs.worstLatenessMs()).isLessThan(BOUND_MS);
    }

    @Test
    void shouldStartAJobOfThePastAtOnce() {
        start(2, (payload, job) -> {});
        long[] agosMs = {1, 60_000, 86_400_000, 10L * 365 * 86_400_000};
        for (long agoMs : agosMs) {
            long nowMs = jobs.nowMs();
            String id = "ago-" + agoMs;
            jobs.schedule(id, nowMs - agoMs, "{}");
            await(id).atMost(LONG).until(() -> !runs.of(id).isEmpty());
            assertThat(runs.of(id).get(0).startedMs() - nowMs).as(id).isLessThan(BOUND_MS);
        }
        awaitDone(agosMs.length);
    }

    /** The servers' clock is put forward in all scripts alike, so that a minute's end is near. */
    @Test
    void shouldHaveClaimedTheNextMinuteWhenItBegins() {
        int shards = 4;
        int count = 400;
        long aheadMs = WorkerSettings.defaults().claimAhead().toMillis() + 5000;
        long shiftS =
                (Minutes.startMs(Minutes.of(System.currentTimeMillis()) + 1) - System.currentTimeMillis() - aheadMs)
                        / 1000;
        StoreConnection shifted = shifted(shiftS);
        jobs = new Jobs(shifted(shiftS), "orders", TopicSettings.defaults().withShards(shards));
        WorkerNode node = WorkerNode.builder()
                .connection(shifted)
                .handle("orders", runs.handler("n0"))
                .start();
        try (shifted;
                node) {
            ready(node, shards);
            long minute = Minutes.of(jobs.nowMs()) + 1;
            long boundaryMs = Minutes.startMs(minute);
            List<NewJob> batch = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                batch.add(Jobs.job("job-" + i, boundaryMs - 1000 + 5L * i, "{}"));
            }
            jobs.scheduleAll(batch);
            await("claimed ahead")
                    .atMost(LONG)
                    .until(() -> node.stats().heldBuckets().stream()
                                    .filter(bucket -> bucket.minute() == minute)
                                    .count()
                            == shards);
            assertThat(jobs.nowMs()).as("before the minute").isLessThan(boundaryMs);
            awaitDone(count);
        }
        System.out.println("punctuality: around a minute's boundary: " + runs.lateness());
        assertThat(runs.all().stream().filter(run -> run.dueMs() < run.startedMs() - BOUND_MS))
                .as("late")
                .isEmpty();
    }

    private StoreConnection shifted(long seconds) {
        return TestScripts.open(
                redis.withReplyTimeout(Duration.ofSeconds(5)),
                (name, text) -> text.replace("tonumber(time[1])", "(tonumber(time[1]) + " + seconds + ")"));
    }

    /**
     * Each round a bucket holds one job, and another is added at about the moment when the node pops the first. Added before, both come with one
     * pop; added after, the bucket was empty and had left the index. Whoever was first starts a little later next time.
     */
    @Test
    void shouldMissNoJobThatIsAddedInTheMomentWhenItsBucketIsDrainedEmpty() {
        int rounds = 300;
        long stepNs = 50_000;
        long seed = System.nanoTime();
        Random random = new Random(seed);
        AtomicInteger together = new AtomicInteger();
        jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(1));
        WorkerNode node = workers.start(
                "n0",
                builder -> builder.settings(WorkerSettings.defaults())
                        .telemetry(new Pops(together))
                        .handle("orders", runs.handler("n0")));
        ready(node, 1);
        ShardId shard = new ShardId("orders", 0);
        long leadNs = 0;
        int addedFirst = 0;
        for (int i = 0; i < rounds; i++) {
            int wasTogether = together.get();
            int wasRun = runs.size();
            long dueMs = jobs.nowMs() + 8;
            jobs.schedule("last-" + i, dueMs, "{}");
            long addNs = jobs.store().clock(shard).nanoTimeAt(dueMs) + leadNs + random.nextInt(200_000);
            while (System.nanoTime() - addNs < 0) {
                LockSupport.parkNanos(20_000);
            }
            jobs.schedule("added-" + i, dueMs - 1, "{}");
            await("both ran")
                    .atMost(LONG)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> runs.size() == wasRun + 2);
            boolean first = together.get() > wasTogether;
            addedFirst += first ? 1 : 0;
            leadNs += first ? stepNs : -stepNs;
        }
        awaitDone(2 * rounds);
        System.out.printf(
                "punctuality: added while drained empty: seed=%d rounds=%d orders=%d/%d %s%n",
                seed, rounds, addedFirst, rounds - addedFirst, runs.lateness());
        assertThat(addedFirst)
                .as("rounds in which the job was added before the pop")
                .isBetween(1, rounds - 1);
        assertThat(runs.worstLatenessMs()).isLessThan(BOUND_MS);
        try (RedisCommands commands = SharedRedis.get().connect()) {
            assertThat(commands.number("ZCARD", jobs.connection().keys().index(shard)))
                    .as("non-empty buckets")
                    .isZero();
        }
    }

    /** Counts the pops that brought two jobs. */
    private record Pops(AtomicInteger together) implements Telemetry {
        @Override
        public void count(Counter counter, String topic, long events) {
            if (counter == Counter.POPPED && events == 2) {
                together.incrementAndGet();
            }
        }

        @Override
        public void lateness(String topic, long latenessUs) {}

        @Override
        public void handlerTime(String topic, long elapsedUs) {}
    }

    @Test
    void shouldRunLargePayloadsByTheHundred() {
        int count = 100;
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<String, Integer> sent = new ConcurrentHashMap<>();
        Map<String, Integer> came = new ConcurrentHashMap<>();
        start(4, (payload, job) -> came.put(job.id(), Arrays.hashCode(payload)));
        List<NewJob> batch = new ArrayList<>();
        long dueMs = jobs.nowMs() + 1500;
        for (int i = 0; i < count; i++) {
            byte[] payload = new byte[Limits.PAYLOAD_BYTES];
            random.nextBytes(payload);
            sent.put("job-" + i, Arrays.hashCode(payload));
            batch.add(Jobs.job("job-" + i, dueMs, payload));
        }
        assertThat(jobs.scheduleAll(batch)).allMatch(result -> result.status().accepted());
        awaitDone(count);
        System.out.println("punctuality: 256 KiB payloads: " + runs.lateness());
        assertThat(came).as("seed %d", seed).isEqualTo(sent);
        assertThat(longestStallMs()).as("ms in which nothing started").isLessThan(STALL_MS);
    }

    @Test
    void shouldRunThousandsOfJobsOfOneMillisecondOnceEach() {
        int count = 5000;
        start(8, (payload, job) -> {});
        long dueMs = jobs.nowMs() + 2500;
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job("job-" + i, dueMs, "{}"));
        }
        jobs.scheduleAll(batch);
        awaitDone(count);
        System.out.println("punctuality: 5,000 on one millisecond: " + runs.lateness());
        assertThat(longestStallMs()).as("ms in which nothing started").isLessThan(STALL_MS);
    }

    /** How long at most nothing started although jobs were due: what a machine can do is not asserted, that nobody sleeps is. */
    private long longestStallMs() {
        long[] starts =
                runs.all().stream().mapToLong(Runs.Run::startedMs).sorted().toArray();
        long longest = starts[0] - runs.all().get(0).dueMs();
        for (int i = 1; i < starts.length; i++) {
            longest = Math.max(longest, starts[i] - starts[i - 1]);
        }
        return longest;
    }
}

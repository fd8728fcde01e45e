package io.minutehand.core.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.JobRecord;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.MoveOutcome;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.WriteResult.Status;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReshardingIT {
    private static final Duration RETENTION = Duration.ofMinutes(5);
    private static final long DUE_MS = System.currentTimeMillis() / 60_000 * 60_000 + 3_600_000;

    private final ExecutorService executor = Executors.newFixedThreadPool(2);
    private RedisInstance server;
    private RedisCommands redis;
    private StoreConnection connection;
    private JobStore jobs;
    private Resharding resharding;
    private Process process;

    /** What a process knows and uses. */
    private final class Process {
        final TopicRegistry topics = new TopicRegistry(
                connection.cluster(executor),
                Map.of("orders", TopicSettings.defaults().withShards(8).withRetention(RETENTION)),
                false);
        final JobWriter writer = new JobWriter(jobs, topics, executor);
        final JobAccess access = new JobAccess(jobs, topics);
        /** As a router would: its last view, however old. */
        StoredTopic view = topics.ensure("orders", soon()).join();

        WriteResult schedule(NewJob job) {
            view = topics.known("orders").orElse(view);
            return writer.write(view, List.of(job), soon()).join().get(0);
        }

        MoveOutcome.Status cancel(String id) {
            view = topics.known("orders").orElse(view);
            return access.cancel(view, id, soon()).join().status();
        }
    }

    @BeforeEach
    void open() {
        server = SharedRedis.another();
        redis = server.connect();
        connection = StoreConnection.open(RedisOptions.of(server.uri()).withReplyTimeout(Duration.ofSeconds(5)));
        jobs = connection.jobs(executor);
        resharding = new Resharding(connection, executor);
        process = new Process();
    }

    @AfterEach
    void close() {
        connection.close();
        executor.shutdownNow();
        redis.close();
        server.close();
    }

    private static long soon() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    }

    private static NewJob job(String id, String payload, boolean replace) {
        byte[] bytes = payload.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        return new NewJob(
                id,
                DUE_MS,
                JobRecord.digest(null, Map.of(), bytes, "at:" + DUE_MS),
                replace,
                JobRecord.encodeBody(null, Map.of(), bytes),
                0);
    }

    private StoredTopic change(int shards) {
        StoredTopic now = new Process().view;
        return resharding.change(now, shards, Duration.ofMillis(1), soon()).join();
    }

    /** Where ids have records, over all shards that ever were. */
    private Map<String, Integer> records(int shards) {
        Map<String, Integer> times = new HashMap<>();
        for (int shard = 0; shard < shards; shard++) {
            for (String key : connection.keys().allRecords(new ShardId("orders", shard))) {
                for (String member : redis.texts("HKEYS", key)) {
                    times.merge(member.substring(1), 1, Integer::sum);
                }
            }
        }
        return times;
    }

    private long sum(String counter, int shards) {
        long sum = 0;
        for (int shard = 0; shard < shards; shard++) {
            sum += jobs.stats(new ShardId("orders", shard)).join().counter(counter);
        }
        return sum;
    }

    @Test
    void shouldKnowEachIdInItsEarlierHome() {
        for (int i = 0; i < 300; i++) {
            assertThat(process.schedule(job("job-" + i, "1", false)).status()).isEqualTo(Status.CREATED);
        }
        StoredTopic before = process.view;

        StoredTopic sixteen = change(16);

        assertThat(sixteen.settings().shards()).isEqualTo(16);
        assertThat(sixteen.epoch()).isEqualTo(2);
        // This process has not read the new settings: it is told by the shards.
        assertThat(process.topics.known("orders")).contains(before);
        for (int i = 0; i < 300; i += 3) {
            String id = "job-" + i;
            assertThat(process.schedule(job(id, "1", false)))
                    .isEqualTo(new WriteResult(Status.EXISTS, JobState.PENDING));
            assertThat(process.schedule(job(id, "2", false)))
                    .isEqualTo(new WriteResult(Status.CONFLICT, JobState.PENDING));
            assertThat(process.access.find(process.view, id, soon()).join()).isPresent();
            assertThat(process.cancel(id)).isEqualTo(MoveOutcome.Status.CANCELLED);
            assertThat(process.cancel(id)).isEqualTo(MoveOutcome.Status.CANCELLED);
            assertThat(process.schedule(job(id, "1", false)))
                    .isEqualTo(new WriteResult(Status.EXISTS, JobState.CANCELLED));
            assertThat(process.schedule(job(id, "2", true)))
                    .as("an ended job is replaced in the new home")
                    .isEqualTo(new WriteResult(Status.REPLACED, JobState.CANCELLED));
            assertThat(process.schedule(job("job-" + (i + 1), "2", true)))
                    .as("a pending one where it is")
                    .isEqualTo(new WriteResult(Status.REPLACED, JobState.PENDING));
            assertThat(process.access
                            .reschedule(process.view, "job-" + (i + 2), shard -> DUE_MS + 60_000, soon())
                            .join()
                            .status())
                    .isEqualTo(MoveOutcome.Status.MOVED);
        }
        assertThat(records(16))
                .hasSize(300)
                .allSatisfy((id, times) -> assertThat(times).as(id).isOne());
        assertThat(process.access.find(process.view, "unheard-of", soon()).join())
                .isEmpty();
        assertThat(process.cancel("unheard-of")).isEqualTo(MoveOutcome.Status.NOT_FOUND);
    }

    @Test
    void shouldTellTheTruthOfAJobThatWasStoredByNewerSettings() {
        Process other = new Process();
        change(16);
        Process newer = new Process();
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ids.add("job-" + i);
            assertThat(newer.schedule(job("job-" + i, "1", false)).status()).isEqualTo(Status.CREATED);
        }

        for (String id : ids) {
            // The view is that of before the change, each time anew.
            StoredTopic old = new StoredTopic("orders", 1, other.view.settings().withShards(8));
            assertThat(other.access.find(old, id, soon()).join()).as(id).isPresent();
            assertThat(other.access.cancel(old, id, soon()).join().status())
                    .as(id)
                    .isEqualTo(MoveOutcome.Status.CANCELLED);
        }
    }

    @Test
    void shouldGiveEmptyShardsUpAndKeepTheirCounters() {
        change(16);
        for (int i = 0; i < 200; i++) {
            process.schedule(job("job-" + i, "1", false));
        }
        StoredTopic four = change(4);
        assertThat(four.earlier()).containsExactly(8, 16);
        assertThat(resharding.strays(four).join()).isTrue();
        for (int i = 0; i < 200; i++) {
            assertThat(process.cancel("job-" + i)).isEqualTo(MoveOutcome.Status.CANCELLED);
        }
        assertThat(resharding.strays(four).join()).isFalse();
        for (String key : server.callEach("KEYS", "mh:{orders:*}:end:*")) {
            redis.call("DEL", key);
        }

        StoredTopic settled = resharding.settle(four, soon()).join();

        assertThat(settled).isEqualTo(new StoredTopic("orders", 3, four.settings()));
        assertThat(server.callEach("KEYS", "mh:{orders:*}:*"))
                .containsExactlyInAnyOrder(
                        "mh:{orders:0}:ledger", "mh:{orders:1}:ledger", "mh:{orders:2}:ledger", "mh:{orders:3}:ledger");
        assertThat(sum("accepted", 4)).isEqualTo(200);
        assertThat(sum("cancelled", 4)).isEqualTo(200);
        for (int shard = 0; shard < 4; shard++) {
            assertThat(jobs.audit(new ShardId("orders", shard)).join()).isZero();
        }
        assertThat(resharding.settle(four, soon()).join()).as("a repeat").isEqualTo(settled);
        assertThat(sum("accepted", 4)).isEqualTo(200);
        assertThat(process.schedule(job("new", "1", false)).status()).isEqualTo(Status.CREATED);
    }

    @Test
    void shouldNotGiveAShardUpThatHoldsJobs() {
        for (int i = 0; i < 100; i++) {
            process.schedule(job("job-" + i, "1", false));
        }
        StoredTopic two = change(2);

        resharding.settle(two, soon()).join();

        assertThat(records(8)).hasSize(100);
        assertThat(sum("accepted", 8)).isEqualTo(100);
    }

    @Test
    void shouldStoreNoIdTwiceWhenTheChangeWasNotToldToTheShards() {
        StoredTopic before = process.view;
        // Who changes the count ends right after: no shard is told, and producers that know the old count go on.
        StoredTopic changed = connection
                .cluster(executor)
                .change(before, before.resharded(16), soon())
                .join();
        assertThat(changed.epoch()).isEqualTo(2);

        assertThat(resharding.strays(changed).join()).isFalse();
        for (int i = 0; i < 50; i++) {
            process.schedule(job("job-" + i, "1", false));
        }
        // By now nobody looks for strays again: they are known to be gone.
        resharding.settle(changed, soon()).join();

        Process other = new Process();
        for (int i = 0; i < 50; i++) {
            assertThat(other.schedule(job("job-" + i, "1", false)).status()).isEqualTo(Status.EXISTS);
        }
        assertThat(records(16).values()).containsOnly(1);
    }

    @Test
    void shouldGoOnWhenTheSettingsLostTheLastChange() {
        StoredTopic before = process.view;
        change(16);
        for (int i = 0; i < 50; i++) {
            assertThat(process.schedule(job("job-" + i, "1", false)).status()).isEqualTo(Status.CREATED);
        }
        // A fail-over of the server that holds the settings, to a replica that had received all but the change.
        redis.call("HDEL", connection.keys().topics(), "orders");
        var cluster = connection.cluster(executor);
        StoredTopic again = cluster.declare("orders", before.settings(), soon()).join();
        cluster.change(again, again.announcing(16), soon()).join();

        Process other = new Process();
        for (int i = 0; i < 100; i++) {
            Status expected = i < 50 ? Status.EXISTS : Status.CREATED;
            assertThat(other.schedule(job("job-" + i, "1", false)).status()).isEqualTo(expected);
            assertThat(process.schedule(job("job-" + i, "1", false)).status()).isEqualTo(Status.EXISTS);
        }
        assertThat(other.view.settings().shards()).isEqualTo(8);
        assertThat(other.view.earlier()).containsExactly(16);
        assertThat(records(16).values()).hasSize(100).containsOnly(1);
    }

    @Test
    void shouldChangeOnlyOnceWhenTwoAskForTheSame() {
        StoredTopic now = process.view;
        var one = resharding.change(now, 16, Duration.ofMillis(50), soon());
        var other = resharding.change(now, 16, Duration.ofMillis(50), soon());

        assertThat(one.join()).isEqualTo(other.join());
        assertThat(one.join().epoch()).isEqualTo(2);
        assertThatThrownBy(() -> resharding.change(now, 0, Duration.ofMillis(1), soon()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0");
    }

    @Test
    void shouldStoreNoIdTwiceWhileTheCountChangesUnderLoad() throws Exception {
        long seed = System.nanoTime();
        System.out.println("resharding: seed=" + seed);
        int ids = 400;
        Map<String, AtomicInteger> created = new ConcurrentHashMap<>();
        Map<String, AtomicInteger> cancelled = new ConcurrentHashMap<>();
        ExecutorService producers = Executors.newFixedThreadPool(6);
        List<Future<?>> running = new ArrayList<>();
        AtomicInteger calls = new AtomicInteger();
        var stop = new java.util.concurrent.atomic.AtomicBoolean();
        for (int p = 0; p < 6; p++) {
            Random random = new Random(seed + p);
            Process mine = new Process();
            running.add(producers.submit(() -> {
                while (!stop.get()) {
                    String id = "job-" + random.nextInt(ids);
                    calls.incrementAndGet();
                    if (random.nextInt(10) == 0) {
                        if (mine.cancel(id) == MoveOutcome.Status.CANCELLED) {
                            cancelled
                                    .computeIfAbsent(id, i -> new AtomicInteger())
                                    .incrementAndGet();
                        }
                    } else {
                        WriteResult result = mine.schedule(job(id, "1", false));
                        assertThat(result.status()).isIn(Status.CREATED, Status.EXISTS);
                        if (result.status() == Status.CREATED) {
                            created.computeIfAbsent(id, i -> new AtomicInteger())
                                    .incrementAndGet();
                        }
                    }
                }
            }));
        }
        try {
            for (int shards : new int[] {16, 4, 8, 5, 16}) {
                int before = calls.get();
                await("calls before the change").until(() -> calls.get() > before + 300);
                change(shards);
            }
            int before = calls.get();
            await("calls after the last change").until(() -> calls.get() > before + 300);
        } finally {
            stop.set(true);
        }
        for (Future<?> each : running) {
            each.get(60, TimeUnit.SECONDS);
        }
        producers.shutdown();

        assertThat(created).as("seed " + seed).hasSizeGreaterThan(ids / 2);
        created.forEach((id, times) -> assertThat(times.get())
                .as("%s was created so often, seed %d", id, seed)
                .isOne());
        records(16).forEach((id, times) -> {
            assertThat(times).as("homes of %s, seed %d", id, seed).isOne();
            assertThat(cancelled).as("seed " + seed).doesNotContainKey(id);
        });
        assertThat(sum("accepted", 16)).as("seed " + seed).isEqualTo(created.size());
        assertThat(sum("cancelled", 16) + records(16).size()).as("seed " + seed).isEqualTo(created.size());
    }
}

package io.minutehand.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.Resharding;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.CancelResult;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The shard count goes from 8 to 16 to 4 while producers schedule and cancel and nodes drain. */
@Tag("faults")
class ReshardingFaultsIT {
    /** Jobs a second; a system property for the full load. */
    private static final int RATE = Integer.getInteger("resharding.rate", 300);

    /** Nodes read settings every 5 s. */
    private static final Duration NOTICE = Duration.ofSeconds(6);

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofSeconds(3);

    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final Map<String, ScheduleResult.Status> scheduled = new ConcurrentHashMap<>();
    private final Set<String> cancelled = ConcurrentHashMap.newKeySet();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger wrong = new AtomicInteger();
    private final AtomicInteger latestMs = new AtomicInteger();

    @Test
    void shouldLoseNoJobAndLeaveNoKeyWhenTheShardCountChanges() throws Exception {
        long seed = System.nanoTime();
        System.out.println("resharding under load: seed=" + seed + " rate=" + RATE);
        ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
        List<WorkerNode> nodes = new ArrayList<>();
        try (RedisServer server = RedisServer.start();
                RedisCommands redis = server.connect();
                StoreConnection connection = StoreConnection.open(RedisOptions.of(server.uri()));
                JobRouter router = JobRouter.builder()
                        .redis(server.uri())
                        .deadline(DEADLINE)
                        .declare(
                                "orders", TopicSettings.defaults().withShards(8).withRetention(Duration.ofSeconds(12)))
                        .connect()) {
            TopicHandle<byte[]> orders = router.topic("orders");
            // Before any node, so that the topic has the settings of this router.
            assertThat(schedule(orders, "first", 10).join().status()).isEqualTo(ScheduleResult.Status.CREATED);
            for (int i = 0; i < 2; i++) {
                nodes.add(WorkerNode.builder()
                        .redis(server.uri())
                        .name("node-" + i)
                        .handle("orders", (payload, job) -> {
                            runs.computeIfAbsent(job.id(), id -> new AtomicInteger())
                                    .incrementAndGet();
                            latestMs.accumulateAndGet((int) job.lateness().toMillis(), Math::max);
                        })
                        .start());
            }
            Random random = new Random(seed);
            AtomicInteger next = new AtomicInteger();
            ScheduledFuture<?> producing = executor.scheduleAtFixedRate(
                    () -> produce(orders, "job-" + next.getAndIncrement(), random),
                    0,
                    TimeUnit.SECONDS.toNanos(1) / RATE,
                    TimeUnit.NANOSECONDS);
            Resharding resharding = new Resharding(connection, executor);
            StoredTopic sixteen = change(resharding, stored(connection, executor), 16);
            StoredTopic four = change(resharding, sixteen, 4);
            int atChange = next.get();
            await("producing goes on").atMost(LONG).until(() -> next.get() > atChange + 2 * RATE);
            producing.cancel(false);
            await("every call answered").atMost(LONG).until(() -> open.get() == 0);
            await("every job that was not cancelled has run")
                    .atMost(LONG)
                    .until(() ->
                            scheduled.keySet().stream().allMatch(id -> runs.containsKey(id) || cancelled.contains(id)));

            await("the earlier counts are forgotten")
                    .atMost(LONG)
                    .until(() -> stored(connection, executor).earlier().isEmpty());
            StoredTopic settled = stored(connection, executor);
            assertThat(settled.epoch()).isEqualTo(four.epoch());
            assertThat(settled.settings().shards()).isEqualTo(4);
            await("no key of the old shards is left")
                    .atMost(LONG)
                    .until(() -> redis.texts("KEYS", "mh:{orders:*}:*").stream()
                            .noneMatch(key ->
                                    Integer.parseInt(key.substring("mh:{orders:".length(), key.indexOf('}'))) >= 4));

            System.out.println("resharding under load: jobs=" + scheduled.size() + " cancelled=" + cancelled.size()
                    + " latest ms=" + latestMs);
            assertThat(wrong).as("calls that were not answered as they should").hasValue(0);
            assertThat(scheduled.values()).containsOnly(ScheduleResult.Status.CREATED);
            assertThat(scheduled.keySet())
                    .as("lost, seed " + seed)
                    .allMatch(id -> runs.containsKey(id) != cancelled.contains(id));
            assertThat(runs.values()).as("runs of a job, seed " + seed).allMatch(times -> times.get() == 1);
            JobStore jobs = connection.jobs(executor);
            long accepted = 0;
            for (var shard : settled.shards()) {
                assertThat(jobs.audit(shard).join()).as("audit of %s", shard).isZero();
                accepted += jobs.stats(shard).join().counter("accepted");
            }
            assertThat(accepted).as("counters were kept").isEqualTo(scheduled.size());
        } finally {
            nodes.forEach(WorkerNode::close);
            executor.shutdownNow();
        }
    }

    private static StoredTopic stored(StoreConnection connection, ScheduledExecutorService executor) {
        return connection.cluster(executor).topics(deadlineNs()).join().get(0);
    }

    private static StoredTopic change(Resharding resharding, StoredTopic now, int shards) {
        return resharding.change(now, shards, NOTICE, deadlineNs()).join();
    }

    private static long deadlineNs() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    }

    private void produce(TopicHandle<byte[]> orders, String id, Random random) {
        boolean cancels = random.nextInt(10) == 0;
        open.incrementAndGet();
        schedule(orders, id, 100 + random.nextInt(6000))
                .thenCompose(result -> cancels ? cancel(orders, id) : CompletableFuture.completedFuture(null))
                .whenComplete((done, failure) -> {
                    wrong.addAndGet(failure == null ? 0 : 1);
                    open.decrementAndGet();
                });
    }

    private CompletableFuture<ScheduleResult> schedule(TopicHandle<byte[]> orders, String id, int afterMs) {
        return orders.schedule(JobSpec.of(new byte[] {1}).id(id).after(Duration.ofMillis(afterMs)))
                .thenApply(result -> {
                    scheduled.put(id, result.status());
                    return result;
                });
    }

    private CompletableFuture<?> cancel(TopicHandle<byte[]> orders, String id) {
        return orders.cancel(id).thenAccept(result -> {
            if (result.status() == CancelResult.Status.CANCELLED) {
                cancelled.add(id);
            } else if (result.status() != CancelResult.Status.RUNNING && result.status() != CancelResult.Status.ENDED) {
                wrong.incrementAndGet();
            }
        });
    }
}

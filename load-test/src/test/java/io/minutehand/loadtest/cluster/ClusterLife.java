package io.minutehand.loadtest.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.admin.Audit;
import io.minutehand.core.admin.Finding;
import io.minutehand.core.admin.ShardAudit;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Durability;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Producers and nodes on a Redis that breaks, and what they saw: what was acknowledged, and what ran. */
final class ClusterLife implements AutoCloseable {
    private static final Duration LONG = Duration.ofSeconds(90);

    /** Long enough for what a fail-over strands in flight to be found within a test. */
    private static final Duration VISIBILITY = Duration.ofSeconds(10);

    private final RedisOptions redis;
    private final String topic;
    private final int shards;
    private final JobRouter router;
    private final TopicHandle<byte[]> handle;
    private final List<WorkerNode> nodes = new ArrayList<>();
    private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
    private final Random random;
    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final Set<String> accepted = ConcurrentHashMap.newKeySet();
    private final Map<ScheduleResult.Status, Integer> answers = new EnumMap<>(ScheduleResult.Status.class);
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger early = new AtomicInteger();
    private final AtomicLong latestMs = new AtomicLong();
    private final AtomicLongArray lastStoredNs;
    private final AtomicLong stallNs = new AtomicLong();
    private Duration longestStall = Duration.ZERO;

    ClusterLife(String uri, int workers, String topic, int shards, Durability durability, long seed) {
        this.topic = topic;
        this.shards = shards;
        this.random = new Random(seed);
        this.lastStoredNs = new AtomicLongArray(shards);
        this.redis = RedisOptions.of(uri);
        this.router = JobRouter.builder()
                .redis(redis)
                .durability(durability)
                .declare(topic, TopicSettings.defaults().withShards(shards).withVisibility(VISIBILITY))
                .connect();
        this.handle = router.topic(topic);
        handle.schedule(JobSpec.of(new byte[0]).id("first")).join();
        for (int i = 0; i < workers; i++) {
            nodes.add(WorkerNode.builder()
                    .redis(redis)
                    .name("node-" + i)
                    .handle(topic, (payload, job) -> {
                        runs.computeIfAbsent(job.id(), id -> new AtomicInteger())
                                .incrementAndGet();
                        early.addAndGet(job.lateness().isNegative() ? 1 : 0);
                        latestMs.accumulateAndGet(job.lateness().toMillis(), Math::max);
                    })
                    .start());
        }
        await("the nodes share the shards")
                .atMost(LONG)
                .until(() -> nodes.stream()
                                        .mapToInt(node -> node.stats().ownedShards())
                                        .sum()
                                == shards
                        && nodes.stream().allMatch(WorkerNode::ready));
    }

    /** Produces so many jobs a second, due within four seconds, until the future is cancelled. */
    ScheduledFuture<?> produce(int rate) {
        for (int shard = 0; shard < shards; shard++) {
            lastStoredNs.set(shard, System.nanoTime());
        }
        return executor.scheduleAtFixedRate(
                this::produceOne, 0, TimeUnit.SECONDS.toNanos(1) / rate, TimeUnit.NANOSECONDS);
    }

    private void produceOne() {
        String id = "job-" + next.getAndIncrement();
        open.incrementAndGet();
        handle.schedule(JobSpec.of(new byte[] {1}).id(id).after(Duration.ofMillis(500 + random.nextInt(3500))))
                .whenComplete((result, failure) -> {
                    if (failure == null) {
                        answered(id, result);
                    } else {
                        failures.add(failure);
                    }
                    open.decrementAndGet();
                });
    }

    private void answered(String id, ScheduleResult result) {
        synchronized (answers) {
            answers.merge(result.status(), 1, Integer::sum);
        }
        if (result.accepted()) {
            accepted.add(id);
        }
        if (result.accepted() || result.status() == ScheduleResult.Status.STORED_NOT_REPLICATED) {
            long nowNs = System.nanoTime();
            long gapNs = nowNs - lastStoredNs.getAndSet(ShardMap.shardOf(id, shards), nowNs);
            stallNs.accumulateAndGet(gapNs, Math::max);
        }
    }

    int produced() {
        return next.get();
    }

    /** Ends the producing and waits until every call has its answer. */
    void settle(ScheduledFuture<?> producing) {
        producing.cancel(false);
        await("every call has its answer").atMost(LONG).until(() -> open.get() == 0);
    }

    /** Waits until what the shards hold has run. */
    void drain() {
        try (StoreConnection connection = StoreConnection.open(redis.withReplyTimeout(Duration.ofSeconds(5)))) {
            JobStore jobs = connection.jobs(executor);
            var stored = connection
                    .cluster(executor)
                    .topics(System.nanoTime() + LONG.toNanos())
                    .join()
                    .get(0);
            await("the shards are empty").atMost(LONG).until(() -> {
                long left = 0;
                for (var shard : stored.shards()) {
                    var stats = jobs.stats(shard).join();
                    left += stats.counter("pending") + stats.inFlight();
                }
                return left == 0;
            });
        }
    }

    /** What deep audits of all shards find. */
    List<Finding> findings() {
        try (StoreConnection connection = StoreConnection.open(redis.withReplyTimeout(Duration.ofSeconds(5)))) {
            Audit audit = new Audit(connection);
            var stored = connection
                    .cluster(executor)
                    .topics(System.nanoTime() + LONG.toNanos())
                    .join()
                    .get(0);
            List<Finding> findings = new ArrayList<>();
            for (ShardId shard : stored.shards()) {
                ShardAudit audited = audit.deep(shard, false, LONG);
                assertThat(audited.complete()).isTrue();
                findings.addAll(audited.findings());
            }
            return findings;
        }
    }

    /** Jobs that were accepted and never ran. */
    Set<String> lost() {
        return accepted.stream().filter(id -> !runs.containsKey(id)).collect(Collectors.toSet());
    }

    long duplicates() {
        return runs.values().stream().mapToLong(times -> times.get() - 1).sum();
    }

    int early() {
        return early.get();
    }

    int ran() {
        return runs.size();
    }

    List<Throwable> failures() {
        return List.copyOf(failures);
    }

    List<WorkerNode> nodes() {
        return nodes;
    }

    long counted(Counter counter) {
        return nodes.stream().mapToLong(node -> node.stats().counted(counter)).sum();
    }

    /** The longest time since the last call in which nothing was stored in one of the shards; waits until each has stored something now. */
    Duration takeStall() {
        long nowNs = System.nanoTime();
        await("every shard takes jobs")
                .atMost(LONG)
                .until(() -> IntStream.range(0, shards).allMatch(shard -> lastStoredNs.get(shard) - nowNs > 0));
        Duration stall = Duration.ofNanos(stallNs.getAndSet(0));
        longestStall = stall.compareTo(longestStall) > 0 ? stall : longestStall;
        return stall;
    }

    /** Figures, for people. */
    String figures() {
        return "topic=" + topic + " shards=" + shards + " accepted=" + accepted.size() + " answers=" + answers + " ran="
                + runs.size() + " lost=" + lost().size() + " run_twice=" + duplicates() + " latest_ms=" + latestMs
                + " longest_stall_ms=" + longestStall.toMillis() + " failures=" + failures.size();
    }

    @Override
    public void close() {
        executor.shutdownNow();
        nodes.forEach(WorkerNode::close);
        router.close();
    }
}

package io.minutehand.router.http;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.TopicRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** Which topics there are; asking for one does not create it. Thread-safe; nothing blocks. */
final class Topics {
    private static final int ASKED_SHARDS = 8;
    private static final long READY_NS = TimeUnit.SECONDS.toNanos(2);

    private final ClusterStore cluster;
    private final JobStore jobs;
    private final Duration patience;
    /** A topic that there was stays one. */
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    Topics(StoreConnection connection, Duration patience) {
        this.cluster = connection.cluster(ForkJoinPool.commonPool());
        this.jobs = connection.jobs(ForkJoinPool.commonPool());
        this.patience = patience;
    }

    /** The topic exists. */
    void seen(String topic) {
        seen.add(topic);
    }

    /** Completes when the topic is known to exist; fails with a {@link Problem} when it does not. */
    CompletableFuture<Void> require(String topic) {
        return seen.contains(topic)
                ? CompletableFuture.completedFuture(null)
                : stored(topic).thenApply(found -> null);
    }

    /** The settings of a topic as they are stored now; fails with a {@link Problem} when there is none. */
    CompletableFuture<StoredTopic> stored(String topic) {
        return all().thenApply(all -> all.stream()
                .filter(stored -> stored.topic().equals(topic))
                .findFirst()
                .orElseThrow(() -> unknown(topic)));
    }

    static Problem unknown(String topic) {
        return new Problem(ProblemType.UNKNOWN_TOPIC, "topic " + topic + " is not declared").with("topic", topic);
    }

    /** Declares a topic and tells its shards; answers with what stands now. */
    CompletableFuture<StoredTopic> declare(String topic, TopicSettings settings) {
        return new TopicRegistry(cluster, Map.of(topic, settings), true)
                .ensure(topic, deadlineNs())
                .thenApply(stored -> {
                    seen(topic);
                    return stored;
                });
    }

    /** Changes settings if they still are as they were read; answers with what stands now. */
    CompletableFuture<StoredTopic> change(StoredTopic before, TopicSettings settings) {
        return cluster.change(before, settings, deadlineNs());
    }

    /**
     * Completes when Redis stores jobs; fails, after 2 s at most, where it would refuse them. Asks some shards: on a Cluster, of several
     * primaries.
     */
    CompletableFuture<Void> takeJobs() {
        long deadlineNs = System.nanoTime() + READY_NS;
        return cluster.topics(deadlineNs).thenCompose(all -> {
            List<ShardId> some = all.stream()
                    .flatMap(stored -> stored.shards().stream())
                    .limit(ASKED_SHARDS)
                    .toList();
            return CompletableFuture.allOf((some.isEmpty() ? List.of(new ShardId("ready", 0)) : some)
                    .stream().map(shard -> jobs.takesJobs(shard, deadlineNs)).toArray(CompletableFuture[]::new));
        });
    }

    /** Whether no node takes a topic's jobs now, by the clock of Redis. */
    boolean paused(StoredTopic topic) {
        return topic.paused(jobs.clock(new ShardId(topic.topic(), 0)).nowMs());
    }

    private long deadlineNs() {
        return System.nanoTime() + patience.toNanos();
    }

    /** All topics, as they are stored now. */
    CompletableFuture<List<StoredTopic>> all() {
        return cluster.topics(deadlineNs()).thenApply(all -> {
            all.forEach(stored -> seen.add(stored.topic()));
            return all;
        });
    }
}

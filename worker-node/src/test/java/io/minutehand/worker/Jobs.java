package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.JobRecord;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.ShardStats;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.core.write.WriteResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Schedules and reads jobs of one topic without a router: the worker's module does not know it. */
final class Jobs implements AutoCloseable {
    private final StoreConnection connection;
    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final JobStore store;
    private final JobWriter writer;
    private final StoredTopic topic;

    Jobs(RedisOptions redis, String topicName, TopicSettings settings) {
        // Long, for machines that do much else: nothing here is about lost replies.
        this(StoreConnection.open(redis.withReplyTimeout(Duration.ofSeconds(5))), topicName, settings);
    }

    /** Over a connection of the test's, which is closed with this. */
    Jobs(StoreConnection connection, String topicName, TopicSettings settings) {
        this.connection = connection;
        store = connection.jobs(executor);
        TopicRegistry registry = new TopicRegistry(connection.cluster(executor), Map.of(topicName, settings), false);
        writer = new JobWriter(store, registry, executor);
        topic = registry.ensure(topicName, deadline()).join();
    }

    static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    }

    /** The Redis clock, epoch ms. */
    long nowMs() {
        return store.clock(new ShardId(topic.topic(), 0)).nowMs();
    }

    String topic() {
        return topic.topic();
    }

    int shards() {
        return topic.settings().shards();
    }

    StoreConnection connection() {
        return connection;
    }

    /** Changes the topic's settings in Redis, as an administrator would. */
    void change(TopicSettings settings) {
        connection.cluster(executor).change(topic, settings, deadline()).join();
    }

    ShardId shardOf(String id) {
        return new ShardId(topic.topic(), ShardMap.shardOf(id, topic.settings().shards()));
    }

    WriteResult schedule(String id, long dueMs, String payload) {
        return scheduleAll(List.of(job(id, dueMs, payload))).get(0);
    }

    static NewJob job(String id, long dueMs, String payload) {
        return job(id, dueMs, payload.getBytes(StandardCharsets.UTF_8));
    }

    static NewJob job(String id, long dueMs, byte[] bytes) {
        return new NewJob(
                id,
                dueMs,
                JobRecord.digest(null, Map.of(), bytes, "at:" + dueMs),
                false,
                JobRecord.encodeBody(null, Map.of(), bytes),
                0);
    }

    /** Schedules a job that is due now. */
    WriteResult now(String id) {
        return schedule(id, nowMs(), "{}");
    }

    List<WriteResult> scheduleAll(List<NewJob> jobs) {
        List<WriteResult> results = new ArrayList<>();
        int from = 0;
        while (from < jobs.size()) {
            int to = from;
            for (int bytes = 0; to < jobs.size() && to < from + 200 && (to == from || bytes < 800_000); to++) {
                bytes += jobs.get(to).body().length;
            }
            results.addAll(
                    writer.write(topic, jobs.subList(from, to), deadline()).join());
            from = to;
        }
        return results;
    }

    Optional<JobStatus> find(String id) {
        return store.find(shardOf(id), id, deadline()).join();
    }

    JobStore store() {
        return store;
    }

    /** Sums of all shards; each shard's ledger must agree with its sets. */
    long counter(String name) {
        long sum = 0;
        for (int i = 0; i < topic.settings().shards(); i++) {
            sum += stats(i).counter(name);
        }
        return sum;
    }

    long inFlight() {
        long sum = 0;
        for (int i = 0; i < topic.settings().shards(); i++) {
            sum += stats(i).inFlight();
        }
        return sum;
    }

    private ShardStats stats(int shard) {
        return store.stats(new ShardId(topic.topic(), shard)).join();
    }

    long dead() {
        long sum = 0;
        for (int i = 0; i < topic.settings().shards(); i++) {
            sum += stats(i).dead();
        }
        return sum;
    }

    /** Jobs that are done, or dead letters. */
    long ended() {
        return counter("done") + dead();
    }

    /** Accepted jobs that no shard can account for: 0 or something is lost. */
    long missing() {
        long sum = 0;
        for (int i = 0; i < topic.settings().shards(); i++) {
            sum += Math.abs(store.audit(new ShardId(topic.topic(), i)).join());
        }
        return sum;
    }

    @Override
    public void close() {
        connection.close();
        executor.shutdownNow();
    }
}

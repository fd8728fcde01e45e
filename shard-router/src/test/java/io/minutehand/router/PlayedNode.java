package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.store.Handout;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.ShardStats;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A worker node by hand: takes jobs of one topic and ends them as a test says. */
public final class PlayedNode implements AutoCloseable {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final StoreConnection connection;
    private final JobStore jobs;
    private final LeaseStore leases;
    private final NodeId node;
    private final String topic;
    private final TopicSettings settings;
    private long seq;

    public PlayedNode(RedisOptions options, String topic, TopicSettings settings) {
        this.connection = StoreConnection.open(options);
        this.jobs = connection.jobs(Runnable::run);
        this.leases = connection.leases(Runnable::run);
        this.node = NodeId.next(connection.clientId());
        this.topic = topic;
        this.settings = settings;
    }

    /**
     * Takes all jobs of an id's shard that are due, until the one of the id is among them: a router that estimates the clock of Redis gives
     * "now" as much as half a round trip too late, and after a slow round trip that is many milliseconds.
     */
    public HandedJob take(String id) {
        return Patience.await("job " + id + " is due").until(() -> takeIfDue(id), Objects::nonNull);
    }

    private HandedJob takeIfDue(String id) {
        ShardId shard = shardOf(id);
        List<HandedJob> taken = new ArrayList<>();
        for (long minute :
                leases.look(shard, Long.MAX_VALUE / 100_000, List.of()).join().minutes()) {
            BucketId bucket = new BucketId(shard, minute);
            leases.claim(bucket, node, LONG).join();
            Handout handout = jobs.pop(bucket, node, ++seq, 100, LONG).join();
            assertThat(handout.status()).isEqualTo(Handout.Status.OK);
            taken.addAll(handout.jobs());
        }
        return taken.stream()
                .filter(handed -> handed.job().id().equals(id))
                .findFirst()
                .orElse(null);
    }

    public void finish(HandedJob job) {
        assertThat(jobs.ack(job.shard(), List.of(job), settings.retention()).join())
                .containsExactly(true);
    }

    public void bury(HandedJob job) {
        bury(job, "a test buries it");
    }

    public void bury(HandedJob job, String reason) {
        assertThat(jobs.bury(job, reason, settings).join()).isPresent();
    }

    /** Jobs that wait, over all shards. */
    public long pending() {
        return counter("pending");
    }

    /** A counter of the ledgers, over all shards. */
    long counter(String name) {
        return stats().stream().mapToLong(stats -> stats.counter(name)).sum();
    }

    /** What the shards cannot account for. */
    public long missing() {
        long missing = 0;
        for (int shard = 0; shard < settings.shards(); shard++) {
            missing += Math.abs(jobs.audit(new ShardId(topic, shard)).join());
        }
        return missing;
    }

    private List<ShardStats> stats() {
        List<ShardStats> stats = new ArrayList<>();
        for (int shard = 0; shard < settings.shards(); shard++) {
            stats.add(jobs.stats(new ShardId(topic, shard)).join());
        }
        return stats;
    }

    private ShardId shardOf(String id) {
        return new ShardId(topic, ShardMap.shardOf(id, settings.shards()));
    }

    @Override
    public void close() {
        connection.close();
    }
}

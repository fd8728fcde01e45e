package io.minutehand.loadtest.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Durability;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ScheduledFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Primaries of a real Redis Cluster are killed while producers and nodes work. */
@Tag("faults")
class ClusterFaultsIT {
    private static final Keyspace KEYS = new Keyspace(Keyspace.DEFAULT_NAMESPACE);
    private static final int ROUNDS = Integer.getInteger("cluster.rounds", 3);
    static final int RATE = Integer.getInteger("cluster.rate", 200);
    private static final Duration LONG = Duration.ofSeconds(90);

    private static RedisCluster cluster() {
        return RedisCluster.start(
                RedisBinary.locate(), 3, 1, RedisSettings.defaults().withAppendOnly());
    }

    /**
     * Kills the primary of a key, waits until its replica serves in its place, and brings it back as a replica.
     *
     * @return from the kill until the replica served
     */
    private static Duration killPrimary(RedisCluster cluster, String key) {
        RedisServer primary = cluster.primaryFor(key);
        long killedNs = System.nanoTime();
        primary.kill();
        await("the replica of " + primary.port() + " takes over")
                .atMost(LONG)
                .ignoreExceptions()
                .until(() -> cluster.primaryFor(key) != primary);
        Duration failover = Duration.ofNanos(System.nanoTime() - killedNs);
        primary.restart();
        cluster.awaitComplete();
        return failover;
    }

    private static void killsUnderLoad(Durability durability, String what, boolean mayLose) {
        long seed = System.nanoTime();
        System.out.println("cluster: " + what + " seed=" + seed + " rounds=" + ROUNDS);
        Random random = new Random(seed);
        try (RedisCluster cluster = cluster();
                ClusterLife life = new ClusterLife(cluster.uri(), 3, "orders", 8, durability, seed)) {
            ScheduledFuture<?> producing = life.produce(RATE);
            for (int round = 0; round < ROUNDS; round++) {
                awaitLoad(life, Duration.ofSeconds(2));
                life.takeStall();
                Duration failover = killPrimary(cluster, KEYS.ledger(new ShardId("orders", random.nextInt(8))));
                awaitLoad(life, Duration.ofSeconds(2));
                assertStall(life.takeStall(), failover, failover.plusSeconds(3));
            }
            assertSound(life, producing, what + " seed=" + seed, mayLose);
        }
    }

    /** Waits until so much more load has been produced as is produced in that time. */
    static void awaitLoad(ClusterLife life, Duration time) {
        int before = life.produced();
        await("load").atMost(LONG).until(() -> life.produced() > before + RATE * time.toSeconds());
    }

    /** Holds the longest time in which a shard took nothing to its bound, and prints both it and how long what was done took. */
    static void assertStall(Duration stall, Duration took, Duration bound) {
        System.out.println("cluster: took_ms=" + took.toMillis() + " stall_ms=" + stall.toMillis());
        assertThat(stall).as("time in which a shard took nothing").isLessThan(bound);
    }

    @Test
    void shouldLoseNoJobThatAReplicaHasWhenPrimariesAreKilled() {
        // A primary that was a replica has none until the killed one is back: each call to it waits so long, and the
        // first one twice, as it does not
        // know the script.
        killsUnderLoad(Durability.replicas(1, Duration.ofMillis(500)), "primaries killed, level replicas(1)", false);
    }

    @Test
    void shouldGoOnWhenPrimariesAreKilledAndCountWhatIsLost() {
        killsUnderLoad(Durability.MEMORY, "primaries killed, level memory", true);
    }

    @Test
    void shouldNotNoticeThatThePrimaryOfTheMembershipIsKilled() {
        long seed = System.nanoTime();
        try (RedisCluster cluster = cluster()) {
            // Shards that are not on that primary: only the membership is to be hurt.
            RedisServer primary = cluster.primaryFor(KEYS.nodes());
            String topic = "";
            for (int i = 0; topic.isEmpty(); i++) {
                ShardId first = new ShardId("topic-" + i, 0);
                ShardId second = new ShardId("topic-" + i, 1);
                if (cluster.primaryFor(KEYS.ledger(first)) != primary
                        && cluster.primaryFor(KEYS.ledger(second)) != primary) {
                    topic = "topic-" + i;
                }
            }
            try (ClusterLife life = new ClusterLife(cluster.uri(), 3, topic, 2, Durability.MEMORY, seed)) {
                List<String> ids = life.nodes().stream().map(WorkerNode::id).toList();
                ScheduledFuture<?> producing = life.produce(RATE);
                awaitLoad(life, Duration.ofSeconds(2));
                killPrimary(cluster, KEYS.nodes());
                // Longer than a node may be silent.
                awaitLoad(life, Duration.ofSeconds(10));
                life.takeStall();
                life.settle(producing);
                life.drain();
                System.out.println("cluster: primary of the nodes killed seed=" + seed + " " + life.figures());
                assertThat(life.lost()).isEmpty();
                assertThat(life.duplicates()).isZero();
                assertThat(life.early()).isZero();
                assertThat(life.counted(Counter.RECOVERED)).as("taken over").isZero();
                assertThat(life.nodes().stream().map(WorkerNode::id))
                        .as("nobody was struck off")
                        .isEqualTo(ids);
            }
        }
    }

    /** Ends the load: nothing is lost, where nothing may be, early, refused or half done. */
    static void assertSound(ClusterLife life, ScheduledFuture<?> producing, String what, boolean mayLose) {
        life.settle(producing);
        life.drain();
        System.out.println("cluster: " + what + " " + life.figures());
        if (!mayLose) {
            assertThat(life.lost()).as("acknowledged and lost, %s", what).isEmpty();
        }
        assertThat(life.ran()).isGreaterThan(RATE);
        assertThat(life.early()).isZero();
        assertThat(life.failures()).as("calls that were refused for good").isEmpty();
        assertThat(life.findings()).as("deep audit, %s", what).isEmpty();
    }
}

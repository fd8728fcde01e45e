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

/** Primaries of a real Redis Cluster are killed, and slots move, while producers and nodes work. */
@Tag("faults")
class ClusterFaultsIT {
    private static final Keyspace KEYS = new Keyspace(Keyspace.DEFAULT_NAMESPACE);
    private static final int ROUNDS = Integer.getInteger("cluster.rounds", 3);
    private static final int RATE = Integer.getInteger("cluster.rate", 200);
    private static final Duration LONG = Duration.ofSeconds(90);

    /** A node is taken for dead after 2 s, then the replicas vote; measured 4.3 s on a quiet machine. */
    private static final Duration FAILOVER = Duration.ofSeconds(8);

    private static RedisCluster cluster() {
        return RedisCluster.start(
                RedisBinary.locate(), 3, 1, RedisSettings.defaults().withAppendOnly());
    }

    /** Kills the primary of a key, waits until its replica serves in its place, and brings it back as a replica. */
    private static void killPrimary(RedisCluster cluster, String key) {
        RedisServer primary = cluster.primaryFor(key);
        primary.kill();
        await("the replica of " + primary.port() + " takes over")
                .atMost(LONG)
                .ignoreExceptions()
                .until(() -> cluster.primaryFor(key) != primary);
        primary.restart();
        cluster.awaitComplete();
    }

    private static void killsUnderLoad(Durability durability, String what, boolean mayLose) {
        long seed = System.nanoTime();
        System.out.println("cluster: " + what + " seed=" + seed + " rounds=" + ROUNDS);
        Random random = new Random(seed);
        try (RedisCluster cluster = cluster();
                ClusterLife life = new ClusterLife(cluster, "orders", 8, durability, seed)) {
            ScheduledFuture<?> producing = life.produce(RATE);
            for (int round = 0; round < ROUNDS; round++) {
                int before = life.produced();
                await("load").atMost(LONG).until(() -> life.produced() > before + 2 * RATE);
                killPrimary(cluster, KEYS.ledger(new ShardId("orders", random.nextInt(8))));
            }
            int before = life.produced();
            await("load").atMost(LONG).until(() -> life.produced() > before + 2 * RATE);
            life.settle(producing);
            life.drain();
            System.out.println("cluster: " + what + " seed=" + seed + " " + life.figures());
            assertThat(life.early()).isZero();
            assertThat(life.ran()).isGreaterThan(RATE);
            assertThat(life.failures()).as("calls that were refused for good").isEmpty();
            assertThat(life.longestStall()).isLessThan(FAILOVER.plusSeconds(3));
            assertThat(life.ledgerDifference())
                    .as("counters that do not add up")
                    .isZero();
            if (!mayLose) {
                assertThat(life.lost())
                        .as("acknowledged and lost, seed " + seed)
                        .isEmpty();
            }
        }
    }

    @Test
    void shouldLoseNoJobThatAReplicaHasWhenPrimariesAreKilled() {
        killsUnderLoad(Durability.replicas(1, Duration.ofSeconds(1)), "primaries killed, level replicas(1)", false);
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
            try (ClusterLife life = new ClusterLife(cluster, topic, 2, Durability.MEMORY, seed)) {
                List<String> ids = life.nodes().stream().map(WorkerNode::id).toList();
                ScheduledFuture<?> producing = life.produce(RATE);
                await("load").atMost(LONG).until(() -> life.produced() > 2 * RATE);
                killPrimary(cluster, KEYS.nodes());
                int before = life.produced();
                // Longer than a node may be silent.
                await("load").atMost(LONG).until(() -> life.produced() > before + 10 * RATE);
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

    @Test
    void shouldLoseNothingWhileSlotsMove() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        System.out.println("cluster: slots move seed=" + seed);
        try (RedisCluster cluster = cluster();
                ClusterLife life = new ClusterLife(cluster, "orders", 4, Durability.MEMORY, seed)) {
            ScheduledFuture<?> producing = life.produce(RATE);
            long moved = 0;
            for (int round = 0; round < 2 * ROUNDS; round++) {
                int before = life.produced();
                await("load").atMost(LONG).until(() -> life.produced() > before + RATE);
                String key = KEYS.ledger(new ShardId("orders", random.nextInt(4)));
                List<RedisServer> others = cluster.primaries().stream()
                        .filter(node -> node != cluster.primaryFor(key))
                        .toList();
                moved += cluster.moveSlot(key, others.get(random.nextInt(others.size())), 5);
            }
            life.settle(producing);
            life.drain();
            System.out.println("cluster: slots move seed=" + seed + " keys moved=" + moved + " " + life.figures());
            assertThat(moved).isGreaterThan(ROUNDS);
            assertThat(life.lost()).as("seed " + seed).isEmpty();
            assertThat(life.early()).isZero();
            assertThat(life.failures()).isEmpty();
            assertThat(life.ledgerDifference()).as("half-done scripts").isZero();
        }
    }
}

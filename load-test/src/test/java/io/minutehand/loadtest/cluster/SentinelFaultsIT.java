package io.minutehand.loadtest.cluster;

import static io.minutehand.loadtest.cluster.ClusterFaultsIT.assertSound;
import static io.minutehand.loadtest.cluster.ClusterFaultsIT.assertStall;
import static io.minutehand.loadtest.cluster.ClusterFaultsIT.awaitLoad;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.Durability;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisSentinel;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The primary that sentinels watch is killed while producers and nodes work. */
@Tag("faults")
class SentinelFaultsIT {
    private static final int ROUNDS = Integer.getInteger("sentinel.rounds", 1);
    private static final Duration LONG = Duration.ofSeconds(90);

    /** Once in so long sentinels tell each other, and so their clients, of a new primary. */
    private static final Duration HELLO = Duration.ofSeconds(2);

    /**
     * Kills the primary, which stays down until the clients are at the new one, or is back at once: then it is a primary for those that have not
     * been told yet, and what it takes is lost as soon as it becomes a replica. What replicas had to acknowledge is not among that, for it has none.
     */
    @ParameterizedTest
    @CsvSource({"replicas, false", "replicas, true", "memory, false", "memory, true"})
    void shouldGoOnAndLoseNothingThatReplicasAcknowledged(String level, boolean backAtOnce) {
        boolean memory = level.equals("memory");
        Durability durability = memory ? Durability.MEMORY : Durability.replicas(1, Duration.ofMillis(300));
        String what = "sentinel, level " + level + (backAtOnce ? ", back at once" : "");
        long seed = System.nanoTime();
        System.out.println("cluster: " + what + " seed=" + seed + " rounds=" + ROUNDS);
        RedisSettings settings = RedisSettings.defaults().withAppendOnly();
        try (RedisSentinel sentinel = RedisSentinel.start(RedisBinary.locate(), settings);
                ClusterLife life = new ClusterLife(sentinel.uri(), 2, "orders", 4, durability, seed)) {
            ScheduledFuture<?> producing = life.produce(ClusterFaultsIT.RATE);
            for (int round = 0; round < ROUNDS; round++) {
                awaitLoad(life, Duration.ofSeconds(2));
                life.takeStall();
                RedisServer killed = sentinel.primary();
                Duration failover = killPrimary(sentinel, killed);
                if (backAtOnce) {
                    killed.restart();
                }
                awaitLoad(life, Duration.ofSeconds(5));
                assertStall(
                        life.takeStall(), failover, failover.plusSeconds(3).plus(backAtOnce ? HELLO : Duration.ZERO));
                if (!backAtOnce) {
                    killed.restart();
                }
                sentinel.awaitReplica();
            }
            assertSound(life, producing, what + " seed=" + seed, memory);
        }
    }

    /**
     * Kills the primary and waits until the other takes writes.
     *
     * @return from the kill until the other took writes
     */
    private static Duration killPrimary(RedisSentinel sentinel, RedisServer killed) {
        long killedNs = System.nanoTime();
        killed.kill();
        await("the sentinels promote the replica").atMost(LONG).until(() -> {
            RedisServer now = sentinel.primary();
            if (now == killed) {
                return false;
            }
            try (RedisCommands commands = now.connect()) {
                return "master".equals(commands.info("replication").get("role"));
            }
        });
        return Duration.ofNanos(System.nanoTime() - killedNs);
    }
}

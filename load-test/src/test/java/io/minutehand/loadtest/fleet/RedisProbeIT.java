package io.minutehand.loadtest.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.loadtest.fleet.RedisProbe.Waiting;
import io.minutehand.loadtest.report.RunFacts.Bucket;
import io.minutehand.loadtest.report.RunReport.Keys;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisSource;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plants keys of the product's form with plain commands and wants them seen. */
class RedisProbeIT {
    private static final Keyspace KEYS = new Keyspace("probe");
    private static final ShardId SHARD = new ShardId("orders", 1);
    private static final BucketId BUCKET = new BucketId(SHARD, 29_000_000);

    private static RedisInstance server;
    private RedisCommands redis;
    private RedisProbe probe;

    @BeforeAll
    static void startServer() {
        server = RedisSource.forTests().open(RedisSettings.defaults());
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        redis = server.connect();
        probe = new RedisProbe(server.connect(), KEYS.namespace(), List.of("orders", "reports"), 4);
    }

    @AfterEach
    void disconnect() {
        probe.deleteAll();
        probe.close();
        redis.close();
    }

    @Test
    void shouldSeeNothingInAnEmptyServer() {
        assertThat(probe.undrained()).isZero();
        assertThat(probe.bytesPerPendingJob()).isNull();
        assertThat(probe.keys()).isNull();
        assertThat(probe.holdings("4711")).isEqualTo(new RedisProbe.Holdings(0, Set.of()));
        assertThat(probe.isDead("orders", "order:1")).isFalse();
        assertThat(probe.cpuUs()).isPositive();
    }

    @Test
    void shouldCountAndMeasurePendingJobs() {
        for (int i = 0; i < 200; i++) {
            pending("order:" + i);
        }

        assertThat(probe.undrained()).isEqualTo(200);
        assertThat(probe.bytesPerPendingJob()).isBetween(200.0, 600.0);
        assertThat(probe.keys())
                .extracting(Keys::largestBucket, Keys::meanBucket)
                .containsExactly(200L, 200.0);
        assertThat(probe.keys().largestRecordHash()).isBetween(5L, 40L);
    }

    @Test
    void shouldTellHowManyJobsWaitForWhichMinute() {
        pending("order:1");
        BucketId sibling = new BucketId(new ShardId("orders", 2), BUCKET.minute());
        BucketId later = new BucketId(SHARD, BUCKET.minute() + 5);
        redis.call("ZADD", KEYS.bucket(sibling), 1, "a", 2, "b");
        redis.call("ZADD", KEYS.index(sibling.shard()), sibling.minute(), Long.toString(sibling.minute()));
        redis.call("ZADD", KEYS.bucket(later), 1, "c");
        redis.call("ZADD", KEYS.index(SHARD), later.minute(), Long.toString(later.minute()));

        assertThat(probe.waiting())
                .containsExactly(new Waiting(BUCKET.minute(), 3, 2), new Waiting(BUCKET.minute() + 5, 1, 1));
    }

    @Test
    void shouldTellWhatANodeHolds() {
        pending("order:1");
        redis.call("ZADD", KEYS.inflight(SHARD), 1, "1:4711.7:0order:2", 2, "2:471.1:0order:3");
        redis.call("ZADD", KEYS.inflight(new ShardId("reports", 0)), 1, "1:4711.8:0report:2");
        redis.call("HSET", KEYS.lease(BUCKET), "client:4711", 1);

        RedisProbe.Holdings holdings = probe.holdings("4711");

        assertThat(holdings.inFlight()).isEqualTo(2);
        assertThat(holdings.held()).containsExactly(new Bucket("orders", 1, 29_000_000));
        assertThat(probe.holdings("471").inFlight()).isEqualTo(1);
        assertThat(probe.holdings("471").held()).isEmpty();
        assertThat(probe.undrained()).isEqualTo(4);
    }

    @Test
    void shouldFindADeadLetter() {
        redis.call("ZADD", KEYS.dead(SHARD), 1, ShardMap.memberOf("order:1"));

        assertThat(probe.dead()).isEqualTo(1);
        assertThat(probe.isDead("orders", "order:1")).isTrue();
        assertThat(probe.isDead("reports", "order:1")).isFalse();
    }

    @Test
    void shouldDeleteItsNamespaceAndNothingElse() {
        for (int i = 0; i < 3_000; i++) {
            redis.call("SET", KEYS.end(SHARD, "order:" + i), "x");
        }
        redis.call("SET", "other:key", "x");

        probe.deleteAll();

        assertThat(redis.texts("KEYS", "*")).containsExactly("other:key");
    }

    private void pending(String id) {
        String member = ShardMap.memberOf(id);
        redis.call("ZADD", KEYS.bucket(BUCKET), 1_740_000_000_000L, member);
        redis.call("ZADD", KEYS.index(SHARD), BUCKET.minute(), Long.toString(BUCKET.minute()));
        redis.call("HSET", KEYS.records(SHARD, member), member, "x".repeat(160));
    }
}

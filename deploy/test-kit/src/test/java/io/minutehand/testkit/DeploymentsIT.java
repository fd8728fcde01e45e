package io.minutehand.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisSentinel;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisTls;
import io.minutehand.router.JobRouter;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A thousand jobs through router and nodes on each kind of deployment. */
class DeploymentsIT {
    private static final int JOBS = 1000;

    /** The rights that the README names: what the scripts and the client need, on the product's keys and channels only. */
    private static final String RIGHTS = "resetkeys ~mh:* resetchannels &mh:* -@all"
            + " +eval +evalsha +script|load +time +spublish +ssubscribe +sunsubscribe +ping +info +select +client|setname"
            + " +zadd +zrem +zcard +zscore +zmscore +zrange +zrangebyscore +zscan"
            + " +hset +hget +hmget +hdel +hgetall +hscan +hkeys +hexists +hincrby"
            + " +get +mget +set +del +exists +pexpire +pttl +publish +unsubscribe +subscribe +wait";

    @Test
    void shouldRunJobsOnACluster() {
        try (RedisCluster cluster = RedisCluster.start(3, 0)) {
            run(RedisOptions.of(cluster.uri()), "cluster");
        }
    }

    @Test
    void shouldRunJobsWithSentinel() {
        try (RedisSentinel sentinel = RedisSentinel.start()) {
            run(RedisOptions.of(sentinel.uri()), "sentinel");
        }
    }

    @Test
    void shouldRunJobsOverTlsWithAUserOfFewRights() {
        assumeTrue(RedisTls.supported(), "this redis-server is built without TLS");
        try (RedisTls tls = RedisTls.start(RedisBinary.locate(), RIGHTS)) {
            run(
                    RedisOptions.of("rediss://" + tls.user() + ":" + tls.userPassword() + "@127.0.0.1:" + tls.port())
                            .withTrustStore(tls.trustStore(), tls.trustStorePassword()),
                    "tls");
        }
    }

    /** Not demanded of a machine, not even under CI: Valkey is there where somebody installed it. */
    @Test
    void shouldRunJobsOnValkey() {
        Optional<RedisBinary> valkey = RedisBinary.valkey();
        if (valkey.isEmpty()) {
            System.out.println("deployments: no valkey-server on the PATH, nothing ran on Valkey");
        }
        assumeTrue(valkey.isPresent(), "no valkey-server on the PATH");
        try (RedisServer server = RedisServer.start(valkey.get(), RedisSettings.defaults())) {
            run(RedisOptions.of(server.uri()), "valkey " + server.version());
        }
    }

    private static void run(RedisOptions redis, String what) {
        Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
        AtomicInteger early = new AtomicInteger();
        List<WorkerNode> nodes = new ArrayList<>();
        try (JobRouter router = JobRouter.builder().redis(redis).connect()) {
            for (int i = 0; i < 2; i++) {
                nodes.add(WorkerNode.builder()
                        .redis(redis)
                        .name(what + "-" + i)
                        .handle("orders", (payload, job) -> {
                            runs.computeIfAbsent(job.id(), id -> new AtomicInteger())
                                    .incrementAndGet();
                            early.addAndGet(job.lateness().isNegative() ? 1 : 0);
                        })
                        .start());
            }
            TopicHandle<byte[]> orders = router.topic("orders");
            List<JobSpec<byte[]>> specs = new ArrayList<>();
            for (int i = 0; i < JOBS; i++) {
                specs.add(JobSpec.of(new byte[] {1}).id("order-" + i).after(Duration.ofMillis(1000 + 2L * i)));
            }
            assertThat(orders.scheduleAll(specs).join().accepted()).isEqualTo(JOBS);
            await("every job done")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> runs.size() == JOBS && done(nodes) == JOBS);
            assertThat(runs.values()).allMatch(count -> count.get() == 1);
            assertThat(early).hasValue(0);
            System.out.println("deployments: " + JOBS + " jobs ran on " + what + " at " + redis);
        } finally {
            nodes.forEach(WorkerNode::close);
        }
    }

    private static long done(List<WorkerNode> nodes) {
        return nodes.stream()
                .mapToLong(node -> node.stats().counted(Counter.DONE))
                .sum();
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.VISIBILITY;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.minutehand.core.SingleServer;
import io.minutehand.core.admin.Audit;
import io.minutehand.core.admin.ShardAudit;
import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.JobState;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisSentinel;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisTls;
import io.minutehand.redis.SharedRedis;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.config.Config;

/** The small life of a few jobs on each kind of deployment. */
@Beside
@SingleServer("starts each deployment by itself")
class ConnectionsIT {
    /** All that an ACL user needs on a single server, keys and channels of the namespace only; the README names them. */
    private static final String RIGHTS = "resetkeys ~mh:* resetchannels &mh:* -@all"
            + " +eval +evalsha +script|load +time +spublish +ssubscribe +sunsubscribe +ping +info +select +client|setname"
            + " +zadd +zrem +zcard +zscore +zmscore +zrange +zrangebyscore +zscan"
            + " +hset +hget +hmget +hdel +hgetall +hscan +hkeys +hexists +hincrby"
            + " +get +mget +set +del +exists +pexpire +pttl +publish +unsubscribe +subscribe +wait";

    @Test
    void shouldRunOnACluster() {
        try (RedisCluster cluster = RedisCluster.start(3, 0);
                StoreConnection connection = StoreConnection.open(
                        RedisOptions.of("redis+cluster://:" + cluster.password() + "@" + addresses(cluster.nodes())))) {
            Set<RedisServer> used = IntStream.range(0, 8)
                    .mapToObj(shard -> new ShardId("orders", shard))
                    .peek(shard -> live(connection, shard))
                    .map(shard -> cluster.primaryFor(connection.keys().ledger(shard)))
                    .collect(Collectors.toSet());

            assertThat(used).as("nodes that hold a shard").hasSize(3);
            IntStream.range(0, 8)
                    .mapToObj(shard -> new ShardId("orders", shard))
                    .forEach(shard -> assertThat(connection.serverOf(shard))
                            .isEqualTo("127.0.0.1:"
                                    + cluster.primaryFor(connection.keys().ledger(shard))
                                            .port()));
            assertThat(connection.clock(new ShardId("orders", 0)))
                    .as("each server has a clock of its own")
                    .isNotSameAs(connection.clock(new ShardId("orders", 1)));
            liveAsANode(connection);
        }
    }

    @Test
    void shouldRunWithSentinel() {
        try (RedisSentinel sentinel = RedisSentinel.start();
                StoreConnection connection = StoreConnection.open(RedisOptions.of("redis+sentinel://:"
                        + sentinel.password() + "@" + addresses(sentinel.sentinels()) + "/" + sentinel.masterName()))) {
            live(connection, new ShardId("orders", 0));
            liveAsANode(connection);

            try (RedisCommands replica = sentinel.servers().get(1).connect()) {
                await("the replica has it too").until(() -> replica.number("EXISTS", "mh:{orders:0}:ledger") == 1);
            }
        }
    }

    @Test
    void shouldRunOverTlsWithAUserOfFewRights() {
        assumeTrue(RedisTls.supported(), "this redis-server is built without TLS");
        try (RedisTls tls = RedisTls.start(RedisBinary.locate(), RIGHTS)) {
            RedisOptions options = RedisOptions.of(tls.uri());
            try (StoreConnection connection =
                    StoreConnection.open(options.withTrustStore(tls.trustStore(), tls.trustStorePassword()))) {
                live(connection, new ShardId("orders", 0));
                liveAsANode(connection);
            }
            assertThatThrownBy(() -> StoreConnection.open(options).close())
                    .as("a certificate that nobody vouches for")
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.REFUSED))
                    .hasMessageNotContaining(tls.userPassword());
        }
    }

    @Test
    void shouldNameTheRightsOfSuchAUserInTheReadme() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));
        int from = readme.indexOf("ACL SETUSER minutehand");

        String named = readme.substring(from, readme.indexOf("```", from));

        assertThat(Arrays.asList(named.strip().split("\\s+")))
                .containsExactlyElementsOf(Arrays.asList(("ACL SETUSER minutehand on >secret " + RIGHTS).split(" ")));
    }

    @Test
    void shouldAskForNoMoreThanItsRightsAndTheTwoLooksThatTheReadmeNames() {
        try (RedisServer server = RedisServer.start();
                RedisCommands redis = server.connect()) {
            List<Object> user = new ArrayList<>(List.of("ACL", "SETUSER", "few", "on", ">few-secret"));
            user.addAll(Arrays.asList(RIGHTS.split(" ")));
            redis.call(user.toArray());

            try (StoreConnection connection =
                    StoreConnection.open(RedisOptions.of("redis://few:few-secret@127.0.0.1:" + server.port()))) {
                live(connection, new ShardId("orders", 0));
                liveAsANode(connection);
            }

            // Redisson looks for a cluster in disguise by a script with two keys, the start-up check for appendfsync.
            assertThat(refused(redis))
                    .as("what the README says is refused")
                    .containsExactlyInAnyOrder("test1", "config|get");
        }
    }

    /** The object of each entry in the server's ACL LOG. */
    private static List<String> refused(RedisCommands redis) {
        List<String> objects = new ArrayList<>();
        for (Object entry : (List<?>) redis.call("ACL", "LOG")) {
            List<?> fields = (List<?>) entry;
            for (int i = 0; i < fields.size(); i += 2) {
                if (text(fields.get(i)).equals("object")) {
                    objects.add(text(fields.get(i + 1)));
                }
            }
        }
        return objects;
    }

    private static String text(Object reply) {
        return new String((byte[]) reply, StandardCharsets.UTF_8);
    }

    @Test
    void shouldRunByAConfigurationOfTheUsersOwn() {
        try (RedisServer server = RedisServer.start()) {
            Config config = new Config();
            config.setNettyThreads(2).setThreads(2).setPassword(server.password());
            config.useSingleServer()
                    .setAddress("redis://127.0.0.1:" + server.port())
                    .setConnectionPoolSize(4)
                    .setConnectionMinimumIdleSize(1)
                    .setRetryAttempts(3);

            try (StoreConnection connection = StoreConnection.of(config, "mine")) {
                live(connection, new ShardId("orders", 0));
                liveAsANode(connection);
                assertThat(connection.keys().namespace()).isEqualTo("mine");
            }
            assertThat(config.getCodec())
                    .as("the user's object stays as it was")
                    .isNull();
            assertThat(config.isCheckLockSyncedSlaves()).isTrue();
        }
    }

    @Test
    void shouldKeepNamespacesApart() {
        RedisOptions options = TestStore.options(SharedRedis.get());
        try (StoreConnection one = StoreConnection.open(options);
                StoreConnection other = StoreConnection.open(TestStore.options(SharedRedis.get()))) {
            ShardId shard = new ShardId("orders", 0);
            live(one, shard);
            live(other, shard);
        }
    }

    @Test
    void shouldRefuseAServerThatIsTooOld() throws Exception {
        try (OldRedis old = new OldRedis()) {
            assertThatThrownBy(() -> StoreConnection.open(RedisOptions.of("redis://:sesame@127.0.0.1:" + old.port()))
                            .close())
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.REFUSED))
                    .hasMessageContaining("needed is 7.0 or newer")
                    .hasMessageNotContaining("sesame");
        }
    }

    /** A few jobs of a shard from schedule to their ends, by every script of a job's. */
    private static void live(StoreConnection connection, ShardId shard) {
        JobStore jobs = connection.jobs(Runnable::run);
        LeaseStore leases = connection.leases(Runnable::run);
        NodeId node = NodeId.next(connection.clientId());
        NodeId other = NodeId.next(connection.clientId());
        get(connection.cluster(Runnable::run).epoch(shard, 1, soon()));
        Queue<LeaseStore.Wake> hints = new ConcurrentLinkedQueue<>();
        Runnable deaf = get(leases.onWake(shard, hints::add));
        long now = System.currentTimeMillis();

        assertThat(get(jobs.schedule(
                                shard,
                                1,
                                List.of(
                                        job("acked", now - 1000),
                                        job("retried", now - 1000),
                                        job("buried", now - 1000),
                                        job("recovered", now - 1000),
                                        job("cancelled", now + 600_000),
                                        job("moved", now + 600_000))))
                        .items())
                .hasSize(6)
                .allMatch(item -> item.status() == ScheduleOutcome.ItemStatus.CREATED);
        await("the hint").until(() -> !hints.isEmpty());
        deaf.run();
        ShardLook look = get(leases.look(shard, now / 60_000 + 1, List.of()));
        BucketId bucket = new BucketId(shard, look.minutes().get(0));
        assertThat(get(leases.claim(bucket, node, LEASE))).isTrue();
        assertThat(get(leases.claimByScript(bucket, other, LEASE))).isFalse();
        assertThat(get(leases.renew(shard, List.of(bucket.minute()), node, LEASE)))
                .containsExactly(true);
        Map<String, HandedJob> handed = get(jobs.pop(bucket, node, 1, 10, VISIBILITY)).jobs().stream()
                .collect(Collectors.toMap(job -> job.job().id(), job -> job));
        assertThat(handed).containsOnlyKeys("acked", "retried", "buried", "recovered");
        assertThat(get(jobs.extend(shard, List.of(handed.get("acked").receipt()), VISIBILITY)))
                .containsExactly(true);
        assertThat(get(jobs.ack(shard, List.of(handed.get("acked")), RETENTION)))
                .containsExactly(true);
        assertThat(get(jobs.retry(handed.get("retried"), now + 600_000, true, "broken")))
                .isTrue();
        assertThat(get(jobs.bury(handed.get("buried"), "broken", TopicSettings.defaults())))
                .isPresent();
        assertThat(get(jobs.redrive(shard, "buried", 1, now))).isFalse();
        assertThat(get(jobs.purge(shard, "buried", 1))).isFalse();
        assertThat(get(jobs.recover(shard, other, 1, 10, VISIBILITY, node.id(), 0))
                        .jobs())
                .hasSize(1);
        assertThat(get(leases.breakLeases(shard, List.of(bucket.minute()), node.id())))
                .containsExactly(true);
        assertThat(get(leases.release(shard, List.of(bucket.minute()), node))).containsExactly(false);
        assertThat(get(jobs.cancel(shard, "cancelled", RETENTION, soon())).status())
                .isEqualTo(MoveOutcome.Status.CANCELLED);
        assertThat(get(jobs.reschedule(shard, "moved", now + 700_000, soon())).status())
                .isEqualTo(MoveOutcome.Status.MOVED);
        assertThat(get(jobs.find(shard, "acked", soon())).orElseThrow().state()).isEqualTo(JobState.DONE);
        assertThat(get(jobs.stats(shard)).inFlight()).isOne();
        assertThat(get(jobs.audit(shard))).isZero();
        ShardAudit audited = new Audit(connection).deep(shard, true, Duration.ofSeconds(20));
        assertThat(audited.findings()).isEmpty();
        assertThat(audited.records()).isEqualTo(4);
        assertThat(connection.clock(shard).sampled()).isTrue();
    }

    private static void liveAsANode(StoreConnection connection) {
        ClusterStore cluster = connection.cluster(Runnable::run);
        assertThat(get(cluster.declare("orders", TopicSettings.defaults(), soon()))
                        .epoch())
                .isOne();
        assertThat(get(cluster.topics(soon()))).hasSize(1);
        assertThat(get(cluster.beat("7", true, 0))).contains(Map.of("7", 1000L));
        get(cluster.describe("7", Map.of("name", "seven"), Duration.ofMinutes(1)));
        assertThat(get(cluster.description("7"))).containsEntry("name", "seven");
        assertThat(get(cluster.leave("7"))).isTrue();
    }

    private static NewJob job(String id, long dueMs) {
        return new NewJob(id, dueMs, TestStore.digest("1"), false, TestStore.body("body"), 0);
    }

    private static String addresses(List<RedisServer> servers) {
        return servers.stream().map(server -> "127.0.0.1:" + server.port()).collect(Collectors.joining(","));
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.VISIBILITY;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.SingleServer;
import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.StoreException.Kind;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisReplyException;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a caller is told when Redis does not answer as it should, and what it is not told: payloads and passwords. */
@SingleServer("errors of one server, made one by one by its settings and users")
class FailureIT {
    private static final String SECRET = "sesame-payload";

    private RedisServer server;
    private RedisCommands redis;
    private StoreConnection connection;
    private JobStore jobs;
    private final ShardId shard = new ShardId("orders", 0);

    @BeforeEach
    void open() {
        server = RedisServer.start(RedisSettings.defaults().withPassword("sesame-password"));
        redis = server.connect();
        connection = StoreConnection.open(options().withReplyTimeout(Duration.ofMillis(300)));
        jobs = connection.jobs(Runnable::run);
        get(connection.cluster(Runnable::run).epoch(shard, 1, soon()));
    }

    @AfterEach
    void close() {
        connection.close();
        redis.close();
        server.close();
    }

    @Test
    void shouldReloadScriptsThatTheServerForgot() {
        LeaseStore leases = connection.leases(Runnable::run);
        NodeId node = NodeId.next(connection.clientId());
        flush();
        schedule("a");
        long minute = get(leases.look(shard, System.currentTimeMillis() / 60_000 + 1, List.of()))
                .minutes()
                .get(0);
        BucketId bucket = new BucketId(shard, minute);
        flush();
        get(leases.claimByScript(bucket, node, LEASE));
        flush();
        Handout handout = get(jobs.pop(bucket, node, 1, 1, VISIBILITY));
        flush();
        assertThat(get(jobs.ack(shard, handout.jobs(), RETENTION))).containsExactly(true);
        flush();
        assertThat(get(jobs.audit(shard))).isZero();
    }

    @Test
    void shouldRefuseAWrongPasswordWithoutRepeatingIt() {
        RedisOptions wrong = RedisOptions.of(server.uri().replace("sesame-password", "sesame-wrong"));

        assertThatThrownBy(() -> StoreConnection.open(wrong).close())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(Kind.REFUSED))
                .hasMessageContaining("127.0.0.1:" + server.port())
                .hasMessageContaining("WRONGPASS")
                .satisfies(FailureIT::keepsSecrets);
    }

    @Test
    void shouldRefuseAMissingPassword() {
        RedisOptions without = RedisOptions.of("redis://127.0.0.1:" + server.port());

        assertThatThrownBy(() -> StoreConnection.open(without).close())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(Kind.REFUSED))
                .hasMessageContaining("NOAUTH");
    }

    @Test
    void shouldRefuseAnAddressWhereNobodyAnswers() {
        server.kill();

        assertThatThrownBy(() -> StoreConnection.open(options()).close())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(Kind.REFUSED))
                .hasMessageContaining("127.0.0.1:" + server.port())
                .satisfies(FailureIT::keepsSecrets);
    }

    @Test
    void shouldRefuseAUserWhoMayNotConnect() {
        redis.call("ACL", "SETUSER", "minutehand", "on", ">sesame-user", "~*", "&*", "+@all", "-@scripting");

        assertThatThrownBy(() ->
                        StoreConnection.open(as("minutehand", "sesame-user")).close())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(Kind.REFUSED))
                .hasMessageContaining("NOPERM")
                .satisfies(FailureIT::keepsSecrets);
    }

    @Test
    void shouldRefuseForGoodWhatAUserMayNotDo() {
        redis.call("ACL", "SETUSER", "minutehand", "on", ">sesame-user", "~*", "&*", "+@all");
        try (StoreConnection limited = StoreConnection.open(as("minutehand", "sesame-user"))) {
            redis.call("ACL", "SETUSER", "minutehand", "-zadd", "resetkeys", "~mh:*");
            JobStore store = limited.jobs(Runnable::run);
            failure(
                    () -> store.schedule(shard, 1, List.of(job("a"))),
                    Kind.REFUSED,
                    "The user executing the script can't run this command",
                    "schedule");

            redis.call("ACL", "SETUSER", "minutehand", "+zadd", "-evalsha");
            failure(() -> store.schedule(shard, 1, List.of(job("a"))), Kind.REFUSED, "NOPERM", "schedule");

            redis.call("ACL", "SETUSER", "minutehand", "+evalsha", "resetkeys", "~other:*");
            failure(() -> store.schedule(shard, 1, List.of(job("a"))), Kind.REFUSED, "NOPERM", "schedule");
            failure(() -> store.find(shard, "a", soon()), Kind.REFUSED, "NOPERM", "find");
            failure(
                    () -> limited.leases(Runnable::run).claim(new BucketId(shard, 1), store(limited), LEASE),
                    Kind.REFUSED,
                    "NOPERM",
                    "claim");
            redis.call("ACL", "SETUSER", "minutehand", "resetchannels");
            assertThatThrownBy(() -> get(limited.leases(Runnable::run).onWake(shard, wake -> {})))
                    .as("the client waits for another answer than a refusal")
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Kind.UNKNOWN))
                    .hasMessageContaining("listening to mh:{orders:0}:wake");
        }
    }

    @Test
    void shouldRefuseWhatFailsInsideAScriptWithoutShowingItsArguments() {
        redis.call("DEL", connection.keys().ledger(shard));
        redis.call("SET", connection.keys().ledger(shard), "not a hash");

        failure(() -> jobs.schedule(shard, 1, List.of(job("a"))), Kind.REFUSED, "WRONGTYPE", "schedule");
        failure(() -> jobs.stats(shard), Kind.REFUSED, "WRONGTYPE", "stats");
    }

    @Test
    void shouldNotKnowTheOutcomeOfACallWithoutReply() {
        schedule("first");
        server.pause();
        try {
            failure(() -> jobs.schedule(shard, 1, List.of(job("a"))), Kind.UNKNOWN, "outcome is unknown", "schedule");
            failure(
                    () -> jobs.find(shard, "first", System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(400)),
                    Kind.UNKNOWN,
                    "outcome is unknown",
                    "find");
        } finally {
            server.resume();
        }

        await("the server goes on")
                .ignoreExceptions()
                .until(() -> get(jobs.stats(shard)).counter("accepted") == 2);
        assertThat(get(jobs.find(shard, "a", soon())))
                .as("it was stored all the same, once")
                .isPresent();
    }

    @Test
    void shouldNotKnowTheOutcomeOfACallWhoseConnectionBroke() {
        schedule("first");
        server.kill();

        failure(() -> jobs.schedule(shard, 1, List.of(job("a"))), Kind.UNKNOWN, "outcome is unknown", "schedule");
        CompletableFuture<?> patient = jobs.find(shard, "first", soon());
        server.restart();
        get(patient);
    }

    @Test
    void shouldRepeatWhatIsRefusedForNow() {
        schedule("first");
        redis.call("REPLICAOF", "127.0.0.1", "1");
        failure(() -> jobs.schedule(shard, 1, List.of(job("a"))), Kind.UNAVAILABLE, "READONLY", "schedule");
        CompletableFuture<MoveOutcome> patient = jobs.cancel(shard, "first", RETENTION, soon());
        redis.call("REPLICAOF", "NO", "ONE");

        assertThat(get(patient).status()).isEqualTo(MoveOutcome.Status.CANCELLED);
    }

    @Test
    void shouldWaitWhileTheServerIsBusy() {
        schedule("first");
        redis.call("CONFIG", "SET", "busy-reply-threshold", "1");
        try (RedisCommands second = server.connect()) {
            second.send("EVAL", "while true do end", 0);
            await("the server says that it is busy").until(() -> busy(redis));
            failure(() -> jobs.stats(shard), Kind.UNAVAILABLE, "BUSY", "stats");
            CompletableFuture<?> patient = jobs.find(shard, "first", soon());
            redis.call("SCRIPT", "KILL");

            get(patient);
        }
    }

    @Test
    void shouldCompleteCallsAlthoughTheirExecutorIsClosed() {
        ExecutorService closed = Executors.newSingleThreadExecutor();
        JobStore store = connection.jobs(closed);
        LeaseStore leases = connection.leases(closed);
        closed.shutdown();

        assertThat(get(store.audit(shard))).isZero();
        assertThat(get(leases.claim(new BucketId(shard, 1), store(connection), LEASE)))
                .isTrue();
        assertThat(get(leases.claim(new BucketId(shard, 1), store(connection), LEASE)))
                .isFalse();
    }

    @Test
    void shouldFailCallsOfAClosedConnection() {
        connection.close();

        failure(() -> jobs.schedule(shard, 1, List.of(job("a"))), Kind.REFUSED, "", "schedule");
        failure(() -> jobs.find(shard, "a", soon()), Kind.REFUSED, "", "find");
    }

    private static boolean busy(RedisCommands redis) {
        try {
            redis.call("PING");
            return false;
        } catch (RedisReplyException refused) {
            return refused.code().equals("BUSY");
        }
    }

    private void flush() {
        redis.call("SCRIPT", "FLUSH");
    }

    private void schedule(String id) {
        assertThat(get(jobs.schedule(shard, 1, List.of(job(id)))).items().get(0).status())
                .isEqualTo(ScheduleOutcome.ItemStatus.CREATED);
    }

    private static NewJob job(String id) {
        return new NewJob(
                id,
                System.currentTimeMillis() - 60_000,
                TestStore.digest("1"),
                false,
                JobRecord.encodeBody(
                        SECRET, Map.of(SECRET, SECRET), SECRET.getBytes(java.nio.charset.StandardCharsets.UTF_8)),
                0);
    }

    private static NodeId store(StoreConnection connection) {
        return NodeId.next(connection.clientId());
    }

    private RedisOptions options() {
        return RedisOptions.of(server.uri());
    }

    private RedisOptions as(String user, String password) {
        return RedisOptions.of(server.uri().replace(":sesame-password@", user + ":" + password + "@"));
    }

    /** The call fails as a {@link StoreException} of this kind, whose message and stack trace say what happened and no secret. */
    private static void failure(Supplier<CompletableFuture<?>> call, Kind kind, String reason, String script) {
        assertThatThrownBy(() -> get(call.get()))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failed ->
                                assertThat(failed.kind()).as(failed.toString()).isEqualTo(kind))
                .hasMessageContaining(reason)
                .hasMessageContaining("script " + script + " on mh:{orders:0}:")
                .hasNoCause()
                .satisfies(FailureIT::keepsSecrets);
    }

    private static void keepsSecrets(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        assertThat(trace.toString()).doesNotContain("sesame");
        assertThat(failure.getMessage()).doesNotContain("channel:", "EVAL", "params", "CommandData", "command: (");
    }
}

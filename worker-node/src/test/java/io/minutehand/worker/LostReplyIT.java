package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.TestScripts;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.LinkProxy.AfterLoss;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A call whose reply is lost was executed: it is repeated, and has the outcome that it had. The connection on which it was lost is reset then, or
 * stays silent until the node has given the call up.
 */
class LostReplyIT {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int JOBS = 120;

    /** A reply is waited for 1 s, and once more when the repeat went the same way; and a busy machine. */
    private static final long HIDDEN_MS = 2000 + 1500;

    private static RedisServer server;

    private final Runs runs = new Runs();
    private final Queue<String> dead = new ConcurrentLinkedQueue<>();
    private LinkProxy proxy;
    private RedisOptions direct;
    private Workers workers;
    private Jobs jobs;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = LinkProxy.before(server);
        direct = Workers.ownNamespace(server.uri());
        workers = new Workers(RedisOptions.of(proxy.uri()).withNamespace(direct.namespace()));
    }

    @AfterEach
    void close() {
        proxy.pass();
        proxy.resetSilent();
        workers.close();
        jobs.close();
        proxy.close();
    }

    /** One node behind the proxy, and jobs that reach Redis without it; the server knows every script. */
    private WorkerNode start(Delivery delivery, JobHandler<byte[]> handler) {
        jobs = new Jobs(
                direct,
                "orders",
                TopicSettings.defaults()
                        .withShards(2)
                        .withDelivery(delivery)
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(200), 2)));
        TopicOptions options = TopicOptions.defaults().onDead((job, cause) -> dead.add(job.id()));
        WorkerNode node = workers.start(
                "n0",
                builder -> builder.handle("orders", options, (payload, job) -> {
                    if (job.id().equals("warm-retry") && job.attempt() == 1) {
                        throw new IllegalStateException("warms the retry up");
                    } else if (job.id().equals("warm-dead")) {
                        throw Dead.because("warms the burial up");
                    } else if (!job.id().startsWith("warm")) {
                        runs.add("n0", job);
                        handler.handle(payload, job);
                    }
                }));
        List.of("warm", "warm-retry", "warm-dead").forEach(jobs::now);
        await("warm").atMost(LONG).until(() -> jobs.ended() == 3);
        return node;
    }

    /** Loses a reply to a script while jobs flow. */
    private void loseWhileJobsFlow(String script, AfterLoss after) {
        proxy.afterLoss(after);
        proxy.loseReplies(TestScripts.sha(script), 1);
        load();
        await("a reply was lost").atMost(LONG).until(() -> proxy.lost() == 1);
        if (after == AfterLoss.SILENCE) {
            await("the node does not wait any longer")
                    .atMost(LONG)
                    .until(() -> workers.counted(Counter.STORE_ERRORS) > 0);
            proxy.resetSilent();
        }
    }

    private void load() {
        load(Duration.ofMillis(10));
    }

    /** Stores jobs, one due so long after the other. */
    private void load(Duration apart) {
        List<NewJob> batch = new ArrayList<>();
        long base = jobs.nowMs() + 100;
        for (int i = 0; i < JOBS; i++) {
            batch.add(Jobs.job("job-" + i, base + apart.toMillis() * i, "{}"));
        }
        jobs.scheduleAll(batch);
    }

    private void report(String script, Object after) {
        System.out.printf("lost reply of %s, then %s: %s%n", script, after, runs.lateness());
    }

    @ParameterizedTest
    @EnumSource(AfterLoss.class)
    void shouldHideNoJobForLongWhenTheReplyOfAPopIsLost(AfterLoss after) {
        start(Delivery.AT_LEAST_ONCE, (payload, job) -> {});
        loseWhileJobsFlow("pop", after);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 2);
        report("pop", after);
        assertThat(runs.size()).isEqualTo(JOBS);
        assertThat(runs.all()).allMatch(run -> run.attempt() == 1 && run.delivery() == 1);
        assertThat(runs.worstLatenessMs()).as("hidden for ms").isLessThan(HIDDEN_MS);
        assertThat(jobs.inFlight()).isZero();
        assertThat(jobs.missing()).isZero();
    }

    @ParameterizedTest
    @EnumSource(AfterLoss.class)
    void shouldCountAJobDoneOnceWhenTheReplyOfItsAckIsLost(AfterLoss after) {
        start(Delivery.AT_LEAST_ONCE, (payload, job) -> {});
        long before = workers.counted(Counter.DONE);
        loseWhileJobsFlow("ack", after);
        await("all done, and known to be")
                .atMost(LONG)
                .until(() -> jobs.counter("done") == JOBS + 2 && workers.counted(Counter.DONE) == before + JOBS);
        report("ack", after);
        assertThat(runs.size()).isEqualTo(JOBS);
        assertThat(runs.duplicates()).isZero();
        assertThat(runs.worstLatenessMs()).isLessThan(HIDDEN_MS);
        assertThat(workers.counted(Counter.STALE)).isZero();
        assertThat(jobs.inFlight()).isZero();
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldCountOneAttemptWhenTheReplyOfARetryIsLost() {
        start(Delivery.AT_LEAST_ONCE, (payload, job) -> {
            if (job.attempt() == 1) {
                throw new IllegalStateException("once");
            }
        });
        loseWhileJobsFlow("retry", AfterLoss.RESET);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 2);
        report("retry", AfterLoss.RESET);
        for (int i = 0; i < JOBS; i++) {
            assertThat(runs.attempts("job-" + i)).as("job-" + i).containsExactly(1, 2);
        }
        assertThat(jobs.counter("retried")).isEqualTo(JOBS + 1);
        await("counted").atMost(LONG).until(() -> workers.counted(Counter.RETRIED) == JOBS + 1);
        assertThat(workers.counted(Counter.STALE)).isZero();
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldTellOfADeadLetterOnceWhenTheReplyOfItsBurialIsLost() {
        start(Delivery.AT_LEAST_ONCE, (payload, job) -> {
            throw Dead.because("no");
        });
        loseWhileJobsFlow("bury", AfterLoss.RESET);
        await("all dead, and told").atMost(LONG).until(() -> jobs.dead() == JOBS + 1 && dead.size() >= JOBS + 1);
        report("bury", AfterLoss.RESET);
        assertThat(dead).doesNotHaveDuplicates().hasSize(JOBS + 1);
        assertThat(runs.duplicates()).isZero();
        assertThat(jobs.missing()).isZero();
    }

    @ParameterizedTest
    @EnumSource(AfterLoss.class)
    void shouldRunAJobOnceThatRunsAtMostOnceAlthoughTheReplyOfItsAckIsLost(AfterLoss after) {
        start(Delivery.AT_MOST_ONCE, (payload, job) -> {});
        loseWhileJobsFlow("ack", after);
        await("all ran").atMost(LONG).until(() -> runs.size() == JOBS);
        report("ack before the run", after);
        assertThat(runs.duplicates()).isZero();
        assertThat(runs.worstLatenessMs()).isLessThan(HIDDEN_MS);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 3);
        assertThat(jobs.inFlight()).isZero();
    }

    @Test
    void shouldKeepItsLeasesAndItsPlaceWhenRepliesAreLost() {
        WorkerNode node = start(Delivery.AT_LEAST_ONCE, (payload, job) -> {});
        String id = node.id();
        List<String> lost = List.of("renew", "beat", "look");
        lost.forEach(script -> proxy.loseReplies(TestScripts.sha(script), 1));
        load();
        await("replies were lost").atMost(LONG).until(() -> proxy.lost() == lost.size());
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 2);
        report("renew, beat and look", AfterLoss.RESET);
        assertThat(node.id()).isEqualTo(id);
        assertThat(runs.size()).isEqualTo(JOBS);
        assertThat(runs.worstLatenessMs()).isLessThan(HIDDEN_MS);
        assertThat(jobs.missing()).isZero();
    }

    /** Two lost replies in a row would end the trust in a lease that is renewed three times in its length. */
    @Test
    void shouldKeepItsLeasesWhenEachIsRenewedInVainTwice() {
        start(Delivery.AT_LEAST_ONCE, (payload, job) -> {});
        long losses = 4;
        proxy.loseReplies(TestScripts.sha("renew"), losses);
        load(Duration.ofMillis(25));
        await("replies were lost").atMost(LONG).until(() -> proxy.lost() == losses);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 2);
        report("renew, twice a shard", AfterLoss.RESET);
        assertThat(workers.counted(Counter.LEASE_LOST)).isZero();
        assertThat(runs.worstLatenessMs()).isLessThan(HIDDEN_MS);
    }

    /** The lock of the client library is not a script of ours: its text goes over the wire. */
    @Test
    void shouldHoldALeaseAlthoughTheReplyOfItsClaimIsLost() {
        proxy.loseReplies("'hincrby'", 1);
        start(Delivery.AT_LEAST_ONCE, (payload, job) -> {});
        await("a reply was lost").atMost(LONG).until(() -> proxy.lost() == 1);
        load();
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 2);
        report("claim", AfterLoss.RESET);
        assertThat(runs.size()).isEqualTo(JOBS);
        assertThat(runs.worstLatenessMs()).isLessThan(HIDDEN_MS);
        assertThat(workers.counted(Counter.FENCED)).isZero();
        assertThat(workers.counted(Counter.LEASE_LOST)).isZero();
    }
}

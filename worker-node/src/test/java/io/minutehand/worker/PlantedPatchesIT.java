package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.TestScripts;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisServer;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a node relies on when replies come late or not at all; and each test is worth what it catches: a defect planted in a node's source must fail it. */
class PlantedPatchesIT {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final TopicSettings ONE_SHARD = TopicSettings.defaults().withShards(1);

    enum Bug {
        TRUST_COUNTED_FROM_THE_REPLY(
                "BucketClaims",
                "return sentNs + settings.lease()",
                "return System.nanoTime() + settings.lease()",
                LateReplies.class,
                "trusted for longer"),
        RESEND_WITH_A_NEW_IDENTITY(
                "BucketDrainer",
                "() -> store.pop(lease.bucket, node, seq, granted, visibility)",
                "() -> store.pop(lease.bucket, node, ++shard.seq, granted, visibility)",
                LostPop.class,
                "the job of the lost reply");

        private final String type;
        private final String from;
        private final String to;
        private final Class<? extends Runnable> test;
        private final String complaint;

        Bug(String type, String from, String to, Class<? extends Runnable> test, String complaint) {
            this.type = type;
            this.from = from;
            this.to = to;
            this.test = test;
            this.complaint = complaint;
        }
    }

    @ParameterizedTest
    @EnumSource(Bug.class)
    void shouldBehaveAsItIs(Bug bug) throws ReflectiveOperationException {
        bug.test.getDeclaredConstructor().newInstance().run();
    }

    @ParameterizedTest
    @EnumSource(Bug.class)
    void shouldBeCaught(Bug bug, @TempDir Path directory) {
        Throwable caught = catchThrowable(Patched.create(bug.test, directory, bug.type, bug.from, bug.to)::run);

        assertThat(caught).as("%s", bug).isNotNull().hasMessageContaining(bug.complaint);
        System.out.printf(
                "planted %s: caught: %s%n",
                bug, caught.getMessage().lines().findFirst().orElse(""));
    }

    /** A node never trusts a lease for longer than Redis keeps it: it counts from before the call, and replies come late here. */
    public static final class LateReplies implements Runnable {
        private static final Duration LATE = Duration.ofMillis(400);
        private static final long SAMPLED_NS = TimeUnit.SECONDS.toNanos(2);

        @Override
        public void run() {
            Runs runs = new Runs();
            try (RedisServer server = RedisServer.start();
                    LinkProxy proxy = LinkProxy.before(server)) {
                RedisOptions direct = Workers.ownNamespace(server.uri());
                RedisOptions late = RedisOptions.of(proxy.uri())
                        .withNamespace(direct.namespace())
                        .withReplyTimeout(LONG);
                try (Jobs jobs = new Jobs(direct, "orders", ONE_SHARD);
                        Workers workers = new Workers(late)) {
                    proxy.delay(Duration.ZERO, LATE);
                    WorkerNode node = workers.start("n0", "orders", runs.handler("n0"));
                    jobs.now("job");
                    await("a lease").atMost(LONG).until(() -> !trusted(node).isEmpty());
                    long beganNs = System.nanoTime();
                    while (System.nanoTime() - beganNs < SAMPLED_NS) {
                        check(node);
                    }
                    proxy.pass();
                }
            }
        }

        private static void check(WorkerNode node) {
            for (long untilNs : trusted(node)) {
                Duration left = Duration.ofNanos(untilNs - System.nanoTime());
                assertThat(left)
                        .as("trusted for longer than Redis keeps the lease, less the margin")
                        .isLessThanOrEqualTo(Workers.FAST
                                .lease()
                                .minus(Workers.FAST.trustMargin())
                                .minus(LATE));
            }
        }

        /** When the node's trust in its leases ends, asked on its own thread. */
        private static List<Long> trusted(WorkerNode node) {
            NodeEngine engine = (NodeEngine) part(node, "engine");
            return CompletableFuture.supplyAsync(
                            () -> engine.shards().stream()
                                    .flatMap(shard -> shard.held.values().stream())
                                    .map(lease -> lease.trustedUntilNs)
                                    .toList(),
                            (Executor) part(node, "timer"))
                    .join();
        }

        private static Object part(WorkerNode node, String name) {
            try {
                Field field = WorkerNode.class.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(node);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("WorkerNode has no " + name, e);
            }
        }
    }

    /** A pop whose reply is lost is repeated as the same call, and gives the same jobs. */
    public static final class LostPop implements Runnable {
        /** A reply is waited for 1 s; and a busy machine. */
        private static final Duration HIDDEN = Duration.ofSeconds(6);

        @Override
        public void run() {
            Runs runs = new Runs();
            try (RedisServer server = RedisServer.start();
                    LinkProxy proxy = LinkProxy.before(server)) {
                RedisOptions direct = Workers.ownNamespace(server.uri());
                try (Jobs jobs = new Jobs(direct, "orders", ONE_SHARD);
                        Workers workers =
                                new Workers(RedisOptions.of(proxy.uri()).withNamespace(direct.namespace()))) {
                    workers.start("n0", "orders", runs.handler("n0"));
                    jobs.now("warm");
                    await("warm").atMost(LONG).until(() -> runs.size() == 1);
                    proxy.loseReplies(TestScripts.sha("pop"), 1);
                    jobs.now("job");
                    await("the job of the lost reply").atMost(HIDDEN).until(() -> runs.size() == 2);
                    assertThat(proxy.lost()).isOne();
                    assertThat(runs.all().get(1).delivery()).isOne();
                }
            }
        }
    }
}

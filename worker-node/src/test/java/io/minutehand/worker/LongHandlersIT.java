package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Handlers that run for long: extended, timed out, stuck, or robbed of their job. */
class LongHandlersIT {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private Jobs jobs;

    private void open(TopicSettings settings) {
        jobs = new Jobs(redis, "orders", settings);
    }

    private static TopicSettings settings() {
        return TopicSettings.defaults()
                .withShards(1)
                .withVisibility(Duration.ofSeconds(1))
                .withRetry(RetryPolicy.fixed(Duration.ofMillis(100), 1));
    }

    @AfterEach
    void close() {
        workers.close();
        jobs.close();
    }

    private void awaitState(String id, JobState state) {
        await(id + " is " + state)
                .atMost(LONG)
                .until(() -> jobs.find(id).map(JobStatus::state).orElse(null) == state);
    }

    private static void awaitUninterruptibly(CountDownLatch latch, AtomicInteger interrupts) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                interrupts.incrementAndGet();
            }
        }
    }

    @Test
    void shouldRunAHandlerOnceThatTakesLongerThanTheVisibility() {
        open(settings());
        Map<String, Boolean> mine = new ConcurrentHashMap<>();
        for (int i = 0; i < 2; i++) {
            String name = "n" + i;
            workers.start(name, "orders", (payload, job) -> {
                runs.add(name, job);
                Thread.sleep(3500);
                mine.put(job.id(), job.isStillMine());
            });
        }
        jobs.now("a");
        awaitState("a", JobState.DONE);
        assertThat(runs.all()).hasSize(1);
        assertThat(runs.all().get(0).delivery()).isEqualTo(1);
        assertThat(mine).containsEntry("a", true);
    }

    @Test
    void shouldNotDisturbAHandlerThatRunsAtMostOnceAndLongerThanTheVisibility() {
        open(settings().withDelivery(Delivery.AT_MOST_ONCE));
        AtomicBoolean finished = new AtomicBoolean();
        workers.start("n0", "orders", (payload, job) -> {
            runs.add("n0", job);
            Thread.sleep(3500);
            finished.set(job.isStillMine());
        });
        jobs.now("a");
        await("finished undisturbed").atMost(LONG).untilTrue(finished);
        assertThat(runs.size()).isEqualTo(1);
        assertThat(workers.counted(Counter.STALE)).isZero();
    }

    @Test
    void shouldKeepToTheDeliveryUnderWhichAJobWasHandedOut() throws Exception {
        open(settings());
        CountDownLatch go = new CountDownLatch(1);
        WorkerNode node = workers.start("n0", "orders", (payload, job) -> {
            runs.add("n0", job);
            go.await();
        });
        jobs.now("a");
        await("started").atMost(LONG).until(() -> runs.size() == 1);
        jobs.change(settings().withDelivery(Delivery.AT_MOST_ONCE));
        // The node reads settings every 5 s; a job that is handed out and done under the new ones tells that it has.
        await("new settings known").atMost(LONG).until(() -> {
            jobs.now("probe-" + System.nanoTime());
            return jobs.counter("done") > 0;
        });
        go.countDown();
        awaitState("a", JobState.DONE);
        node.close();
        assertThat(runs.of("a")).hasSize(1);
        assertThat(jobs.inFlight()).isZero();
    }

    @Test
    void shouldInterruptAHandlerThatIsOverItsTimeAndCountAFailedAttempt() {
        open(settings().withVisibility(Duration.ofSeconds(30)));
        Map<Integer, Long> interruptedAfterMs = new ConcurrentHashMap<>();
        workers.start(
                "n0",
                builder -> builder.handle(
                        "orders", TopicOptions.defaults().timeout(Duration.ofMillis(400)), (payload, job) -> {
                            runs.add("n0", job);
                            long startNs = System.nanoTime();
                            try {
                                Thread.sleep(20_000);
                            } catch (InterruptedException e) {
                                interruptedAfterMs.put(job.attempt(), (System.nanoTime() - startNs) / 1_000_000);
                                assertThat(job.remaining()).isZero();
                                throw e;
                            }
                        }));
        jobs.now("a");
        awaitState("a", JobState.DEAD);
        assertThat(runs.attempts("a")).containsExactly(1, 2);
        assertThat(interruptedAfterMs.values()).hasSize(2).allMatch(ms -> ms >= 399 && ms < 3000);
        assertThat(jobs.find("a").orElseThrow().job().lastFailure()).contains("TimeoutException", "PT0.4S");
    }

    @Test
    void shouldKeepTheSlotOfAHandlerThatIgnoresItsInterruptAndNotBeReadyWhenAllAreStuck() {
        open(settings().withRetry(RetryPolicy.none()).withVisibility(Duration.ofSeconds(30)));
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger interrupts = new AtomicInteger();
        WorkerNode node = workers.start(
                "n0",
                builder -> builder.slots(2)
                        .handle("orders", TopicOptions.defaults().timeout(Duration.ofMillis(300)), (payload, job) -> {
                            runs.add("n0", job);
                            if (job.id().startsWith("stuck")) {
                                awaitUninterruptibly(release, interrupts);
                            }
                        }));
        try {
            jobs.now("stuck-1");
            await("one is stuck").atMost(LONG).until(() -> node.stats().stuck() == 1);
            awaitState("stuck-1", JobState.DEAD);
            assertThat(node.ready()).as("ready with one slot left").isTrue();
            assertThat(node.stats().running()).isEqualTo(1);
            jobs.now("good-1");
            awaitState("good-1", JobState.DONE);
            jobs.now("stuck-2");
            await("both are stuck").atMost(LONG).until(() -> node.stats().stuck() == 2);
            assertThat(node.ready()).as("ready with all slots stuck").isFalse();
            assertThat(node.stats().running()).isEqualTo(2);
            jobs.now("good-2");
            assertThat(interrupts).hasValueGreaterThanOrEqualTo(2);
        } finally {
            release.countDown();
        }
        awaitState("good-2", JobState.DONE);
        await("ready again").atMost(LONG).until(node::ready);
        assertThat(node.stats().stuck()).isZero();
        assertThat(workers.counted(Counter.STUCK)).isEqualTo(2);
        assertThat(runs.duplicates()).isZero();
    }

    @Test
    void shouldTellAHandlerWhoseReceiptIsGone() {
        open(settings());
        Map<String, Boolean> seen = new ConcurrentHashMap<>();
        CountDownLatch started = new CountDownLatch(1);
        WorkerNode node = workers.start("n0", "orders", (payload, job) -> {
            runs.add("n0", job);
            seen.put("before", job.isStillMine());
            started.countDown();
            try {
                Thread.sleep(20_000);
                seen.put("interrupted", false);
            } catch (InterruptedException e) {
                seen.put("after", job.isStillMine());
                seen.put("interrupted", true);
            }
        });
        jobs.now("a");
        assertThat(await(started)).isTrue();
        try (RedisCommands commands = SharedRedis.get().connect()) {
            String inflight = jobs.connection().keys().inflight(jobs.shardOf("a"));
            assertThat(commands.number("DEL", inflight)).isEqualTo(1);
        }
        await("told").atMost(LONG).until(() -> seen.containsKey("interrupted"));
        assertThat(seen)
                .containsEntry("before", true)
                .containsEntry("after", false)
                .containsEntry("interrupted", true);
        await("nothing left of it").atMost(LONG).until(() -> node.stats().inFlight() == 0);
        assertThat(workers.counted(Counter.STALE)).isEqualTo(1);
        assertThat(workers.counted(Counter.DONE)).isZero();
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(LONG.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static org.awaitility.core.ConditionFactory await(String what) {
        return org.awaitility.Awaitility.await(what);
    }
}

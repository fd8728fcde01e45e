package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.Limits;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each way in which a handler can end, and what becomes of the job. */
class HandlerOutcomesIT {
    private static final Duration LONG = Duration.ofSeconds(20);

    record Order(int id) {}

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private final Queue<Map.Entry<Job, Throwable>> dead = new ConcurrentLinkedQueue<>();
    private final AtomicReference<JobHandler<byte[]>> behaviour = new AtomicReference<>((payload, job) -> {});
    private Jobs jobs;

    @BeforeEach
    void open() {
        jobs = new Jobs(
                redis,
                "orders",
                TopicSettings.defaults().withShards(2).withRetry(RetryPolicy.fixed(Duration.ofMillis(200), 2)));
    }

    @AfterEach
    void close() {
        workers.close();
        jobs.close();
    }

    private void start(TopicOptions options) {
        workers.start(
                "n0",
                builder -> builder.handle(
                        "orders", options.onDead((job, cause) -> dead.add(Map.entry(job, cause))), (payload, job) -> {
                            runs.add("n0", job);
                            behaviour.get().handle(payload, job);
                        }));
    }

    private void start() {
        start(TopicOptions.defaults());
    }

    private void awaitState(String id, JobState state) {
        await(id + " is " + state)
                .atMost(LONG)
                .until(() -> jobs.find(id).map(JobStatus::state).orElse(null) == state);
    }

    @Test
    void shouldBeDoneWhenTheHandlerReturns() {
        start();
        jobs.now("a");
        awaitState("a", JobState.DONE);
        assertThat(runs.attempts("a")).containsExactly(1);
        assertThat(jobs.counter("done")).isEqualTo(1);
        assertThat(jobs.missing()).isZero();
        await("counted").atMost(LONG).until(() -> workers.counted(Counter.DONE) == 1);
    }

    @Test
    void shouldRunAFailedJobAgainByThePolicyAndThenKeepItAsADeadLetter() {
        behaviour.set((payload, job) -> {
            throw new IllegalStateException("no money\r\n  attempt " + job.attempt());
        });
        start();
        jobs.schedule("a", jobs.nowMs(), "payload");
        awaitState("a", JobState.DEAD);
        assertThat(runs.attempts("a")).containsExactly(1, 2, 3);
        List<Runs.Run> of = runs.of("a");
        for (int i = 1; i < of.size(); i++) {
            assertThat(of.get(i).dueMs() - of.get(i - 1).startedMs())
                    .as("delay before attempt %d", i + 1)
                    .isBetween(200L, 1500L);
        }
        Job letter = jobs.find("a").orElseThrow().job();
        assertThat(letter.attempt()).isEqualTo(3);
        assertThat(letter.lastFailure()).isEqualTo("IllegalStateException: no money    attempt 3");
        assertThat(letter.payload()).isEqualTo("payload".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        await("call-back").atMost(LONG).until(() -> !dead.isEmpty());
        assertThat(dead).hasSize(1);
        assertThat(dead.element().getKey().id()).isEqualTo("a");
        assertThat(dead.element().getValue()).isInstanceOf(IllegalStateException.class);
        assertThat(workers.counted(Counter.RETRIED)).isEqualTo(2);
        assertThat(workers.counted(Counter.DEAD)).isEqualTo(1);
        assertThat(jobs.counter("buried")).isEqualTo(1);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldBuryAJobWhoseStoredBodyIsDamagedAndRunItsNeighbours() {
        long dueMs = jobs.nowMs() + 500;
        for (int i = 0; i < 20; i++) {
            jobs.schedule("good-" + i, dueMs, "{}");
        }
        jobs.schedule("damaged", dueMs, "{}");
        jobs.schedule("cut", dueMs, "{}");
        Records.cut(jobs, "damaged", 37);
        Records.cut(jobs, "cut", 10);
        start();
        awaitState("damaged", JobState.DEAD);
        await("neighbours").atMost(LONG).until(() -> jobs.counter("done") == 20);
        await("call-back").atMost(LONG).until(() -> !dead.isEmpty());
        assertThat(dead.element().getKey().id()).isEqualTo("damaged");
        assertThat(dead.element().getKey().payload()).as("what is stored").hasSize(1);
        assertThat(jobs.find("damaged").orElseThrow().job().lastFailure()).contains("stored body of 1 bytes");
        await("the other is left alone, and counted")
                .atMost(LONG)
                .until(() -> workers.counted(Counter.SKIPPED_NEWER) > 0);
        assertThat(runs.ids()).hasSize(20);
        assertThat(jobs.counter("pending")).isEqualTo(1);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldWaitTheSquareOfTheAttempt() {
        behaviour.set((payload, job) -> {
            if (job.attempt() < 4) {
                throw new IllegalStateException("not yet");
            }
        });
        start(TopicOptions.defaults()
                .retry(new RetryPolicy(
                        RetryPolicy.Kind.QUADRATIC, 3, Duration.ofMillis(100), Duration.ofSeconds(10), 0)));
        jobs.now("a");
        awaitState("a", JobState.DONE);
        List<Runs.Run> of = runs.of("a");
        assertThat(runs.attempts("a")).as("the node's own policy").containsExactly(1, 2, 3, 4);
        for (int i = 1; i < 4; i++) {
            long delayMs = of.get(i).dueMs() - of.get(i - 1).startedMs();
            assertThat(delayMs).as("delay before attempt %d", i + 1).isBetween(100L * i * i, 100L * i * i + 1000);
        }
    }

    @Test
    void shouldOutliveWhateverAHandlerThrows() {
        Map<String, Throwable> thrown = new ConcurrentHashMap<>(Map.of(
                "overflow", new StackOverflowError("deep"),
                "memory", new OutOfMemoryError("full"),
                "assertion", new AssertionError("wrong"),
                "linkage", new NoClassDefFoundError("gone"),
                "hostile",
                        new RuntimeException() {
                            @Override
                            public String getMessage() {
                                throw new IllegalStateException("no message for you");
                            }
                        }));
        behaviour.set((payload, job) -> {
            Throwable failure = thrown.remove(job.id());
            if (failure instanceof Error error) {
                throw error;
            } else if (failure instanceof RuntimeException exception) {
                throw exception;
            } else if (job.id().equals("recursion") && job.attempt() == 1) {
                recurse(0);
            }
        });
        start();
        List<String> ids = List.of("overflow", "memory", "assertion", "linkage", "hostile", "recursion", "good");
        ids.forEach(jobs::now);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == ids.size());
        ids.forEach(
                id -> assertThat(runs.attempts(id)).as(id).isEqualTo(id.equals("good") ? List.of(1) : List.of(1, 2)));
        assertThat(dead).isEmpty();
    }

    @SuppressWarnings("InfiniteRecursion")
    private static int recurse(int depth) {
        return recurse(depth + 1) + 1;
    }

    @Test
    void shouldMakeADeadLetterAtOnceWhenTheHandlerSaysSo() {
        behaviour.set((payload, job) -> {
            throw Dead.because("customer left\n2026-01-01 INFO forged line " + "x".repeat(2 * Limits.REASON_BYTES));
        });
        start();
        jobs.now("a");
        awaitState("a", JobState.DEAD);
        assertThat(runs.attempts("a")).containsExactly(1);
        assertThat(jobs.find("a").orElseThrow().job().lastFailure())
                .startsWith("customer left 2026")
                .hasSize(Limits.REASON_BYTES)
                .doesNotContain("\n");
        await("call-back").atMost(LONG).until(() -> dead.size() == 1);
        assertThat(dead.element().getValue()).isInstanceOf(Dead.class);
    }

    @Test
    void shouldRunAgainWhenTheHandlerSaysWhenWithoutCountingAnAttempt() {
        AtomicLong againAtMs = new AtomicLong();
        behaviour.set((payload, job) -> {
            int run = runs.of(job.id()).size();
            if (job.id().equals("at") && run == 1) {
                againAtMs.set(jobs.nowMs() + 1500);
                throw Again.at(Instant.ofEpochMilli(againAtMs.get()));
            } else if (job.id().equals("after") && run < 4) {
                throw Again.after(Duration.ofMillis(300));
            } else if (job.id().equals("past") && run == 1) {
                throw Again.at(Instant.EPOCH);
            } else if (job.id().equals("never") && run == 1) {
                throw Again.at(Instant.MAX);
            }
        });
        start();
        List.of("at", "after", "past", "never").forEach(jobs::now);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == 4);
        assertThat(runs.attempts("at")).containsExactly(1, 1);
        assertThat(runs.of("at").get(1).dueMs()).isEqualTo(againAtMs.get());
        assertThat(runs.of("at").get(1).delivery()).isEqualTo(1);
        assertThat(runs.attempts("after")).containsExactly(1, 1, 1, 1);
        assertThat(runs.of("after").get(3).startedMs() - runs.of("after").get(0).startedMs())
                .isGreaterThanOrEqualTo(900);
        assertThat(runs.attempts("past")).containsExactly(1, 1);
        assertThat(runs.of("past").get(1).latenessUs())
                .as("lateness counts from the moment of the decision")
                .isBetween(0L, 10_000_000L);
        assertThat(runs.attempts("never"))
                .as("a time that nobody can mean is a failure")
                .containsExactly(1, 2);
    }

    @Test
    void shouldKeepTheBytesOfAPayloadThatCannotBeDecoded() {
        long seed = System.nanoTime();
        byte[] garbage = new byte[1000];
        new Random(seed).nextBytes(garbage);
        Queue<Integer> handled = new ConcurrentLinkedQueue<>();
        workers.start(
                "n0",
                builder -> builder.handle(
                        "orders",
                        Order.class,
                        TopicOptions.defaults().onDead((job, cause) -> dead.add(Map.entry(job, cause))),
                        (order, job) -> handled.add(order.id())));
        jobs.scheduleAll(List.of(
                Jobs.job("bad", jobs.nowMs(), garbage),
                Jobs.job("good", jobs.nowMs(), "{\"id\":7,\"unknown\":{\"field\":[1,2]}}")));
        awaitState("bad", JobState.DEAD);
        awaitState("good", JobState.DONE);
        assertThat(handled).containsExactly(7);
        Job letter = jobs.find("bad").orElseThrow().job();
        assertThat(letter.payload()).as("seed %d", seed).isEqualTo(garbage);
        assertThat(letter.attempt()).isEqualTo(1);
        assertThat(letter.lastFailure()).startsWith("payload cannot be decoded: ");
        await("call-back").atMost(LONG).until(() -> dead.size() == 1);
        assertThat(dead.element().getKey().payload()).isEqualTo(garbage);
    }

    @Test
    void shouldOutliveACallBackThatThrows() {
        behaviour.set((payload, job) -> {
            throw Dead.because("gone");
        });
        workers.start(
                "n0",
                builder -> builder.handle(
                        "orders",
                        TopicOptions.defaults().onDead((job, cause) -> {
                            dead.add(Map.entry(job, cause));
                            throw new AssertionError("call-back fails");
                        }),
                        (payload, job) -> behaviour.get().handle(payload, job)));
        jobs.now("a");
        jobs.now("b");
        await("both told").atMost(LONG).until(() -> dead.size() == 2);
        behaviour.set((payload, job) -> {});
        jobs.now("c");
        awaitState("c", JobState.DONE);
    }

    @Test
    void shouldLetACallBackFinishBeforeTheNodeIsClosed() {
        Queue<String> finished = new ConcurrentLinkedQueue<>();
        behaviour.set((payload, job) -> {
            throw Dead.because("gone");
        });
        WorkerNode node = workers.start(
                "n0",
                builder -> builder.handle(
                        "orders",
                        TopicOptions.defaults().onDead((job, cause) -> {
                            dead.add(Map.entry(job, cause));
                            try {
                                Thread.sleep(700);
                                finished.add(job.id());
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        }),
                        (payload, job) -> behaviour.get().handle(payload, job)));
        jobs.now("a");
        await("told").atMost(LONG).until(() -> dead.size() == 1);
        node.close();
        assertThat(finished).containsExactly("a");
    }
}

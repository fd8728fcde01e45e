package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.TopicSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Jobs that are handed out more than once, and jobs that must not be. */
class DeliveriesIT {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration VISIBILITY = Duration.ofSeconds(1);

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private Jobs jobs;

    private static TopicSettings settings() {
        return TopicSettings.defaults()
                .withShards(2)
                .withVisibility(VISIBILITY)
                .withRetry(RetryPolicy.fixed(Duration.ofMillis(100), 2));
    }

    private void open(TopicSettings settings) {
        jobs = new Jobs(redis, "orders", settings);
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

    private List<String> stranded(int count) {
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job("old-" + i, jobs.nowMs(), "{}"));
        }
        jobs.scheduleAll(batch);
        FakeNode dead = new FakeNode(jobs);
        List<String> taken = new ArrayList<>();
        await("all handed to a node that does nothing").atMost(LONG).until(() -> {
            dead.popAll(VISIBILITY).forEach(job -> taken.add(job.job().id()));
            return taken.size() == count;
        });
        return taken;
    }

    @Test
    void shouldRunWhatWasHandedOutBeforeOneAtATimeWhileFreshJobsFlow() {
        open(settings());
        List<String> old = stranded(12);
        Runs fresh = new Runs();
        workers.start(
                "n0",
                builder -> builder.slots(4).handle("orders", (payload, job) -> {
                    if (job.id().startsWith("fresh")) {
                        fresh.add("n0", job);
                        return;
                    }
                    runs.add("n0", job);
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    Thread.sleep(250);
                    now.decrementAndGet();
                }));
        await("the first is taken over").atMost(LONG).until(() -> runs.size() > 0);
        int sent = 0;
        while (runs.ids().size() < old.size() && sent < 1000) {
            String id = "fresh-" + sent++;
            jobs.now(id);
            await(id).atMost(LONG).until(() -> fresh.ids().contains(id));
        }
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == jobs.counter("accepted"));
        assertThat(runs.ids()).containsExactlyInAnyOrderElementsOf(old);
        assertThat(runs.size()).isEqualTo(old.size());
        assertThat(runs.all()).allMatch(run -> run.delivery() == 2 && run.attempt() == 1);
        assertThat(most).as("suspects at the same time").hasValue(1);
        System.out.println("deliveries: fresh jobs beside suspects: " + fresh.lateness());
        assertThat(fresh.size()).as("fresh jobs beside suspects").isGreaterThan(10);
        assertThat(fresh.worstLatenessMs()).as("fresh jobs are kept out").isLessThan(1500);
        assertThat(workers.counted(Counter.RECOVERED)).isEqualTo(12);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldLetTheNextSuspectTryWhenOneIsStuck() {
        open(settings());
        stranded(3);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger first = new AtomicInteger();
        WorkerNode node = workers.start(
                "n0",
                builder -> builder.handle(
                        "orders", TopicOptions.defaults().timeout(Duration.ofMillis(300)), (payload, job) -> {
                            runs.add("n0", job);
                            if (first.incrementAndGet() == 1) {
                                boolean interrupted = false;
                                while (release.getCount() > 0) {
                                    try {
                                        release.await();
                                    } catch (InterruptedException e) {
                                        interrupted = true;
                                    }
                                }
                                assertThat(interrupted).isTrue();
                            }
                        }));
        try {
            await("one is stuck").atMost(LONG).until(() -> node.stats().stuck() == 1);
            await("the others run nevertheless").atMost(LONG).until(() -> jobs.counter("done") >= 2);
        } finally {
            release.countDown();
        }
        await("the stuck one's second attempt").atMost(LONG).until(() -> jobs.counter("done") == 3);
    }

    @Test
    void shouldMakeADeadLetterOfWhatWasHandedOutTooOften() {
        open(settings());
        jobs.scheduleAll(List.of(
                Jobs.job("poison", jobs.nowMs(), "poison"),
                Jobs.job("last", jobs.nowMs(), "last"),
                Jobs.job("good", jobs.nowMs(), "good")));
        Records.delivered(jobs, "poison", 3);
        Records.delivered(jobs, "last", 2);
        workers.start("n0", "orders", runs.handler("n0"));
        awaitState("poison", JobState.DEAD);
        awaitState("last", JobState.DONE);
        awaitState("good", JobState.DONE);
        assertThat(runs.of("poison")).as("never started").isEmpty();
        assertThat(runs.of("last")).hasSize(1);
        assertThat(runs.of("last").get(0).delivery()).isEqualTo(3);
        var letter = jobs.find("poison").orElseThrow().job();
        assertThat(letter.lastFailure()).contains("handed out 4 times without an answer");
        assertThat(letter.payload()).isEqualTo("poison".getBytes(StandardCharsets.UTF_8));
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldRunAJobAtMostOnceEvenWhenItsHandlerThrows() {
        open(settings().withDelivery(Delivery.AT_MOST_ONCE));
        workers.start("n0", "orders", (payload, job) -> {
            runs.add("n0", job);
            if (job.id().startsWith("again")) {
                throw Again.after(Duration.ofMillis(100));
            }
            throw new IllegalStateException("fails");
        });
        jobs.now("fails");
        jobs.now("again");
        await("both ran").atMost(LONG).until(() -> runs.size() == 2);
        awaitState("fails", JobState.DONE);
        awaitState("again", JobState.DONE);
        // A job that is scheduled later and done tells that nothing of the earlier ones is left to come.
        for (int i = 0; i < 3; i++) {
            String id = "later-" + i;
            jobs.schedule(id, jobs.nowMs() + 300, "{}");
            awaitState(id, JobState.DONE);
        }
        assertThat(runs.of("fails")).hasSize(1);
        assertThat(runs.of("again")).hasSize(1);
        assertThat(jobs.inFlight()).isZero();
        assertThat(workers.counted(Counter.RETRIED)).isZero();
        assertThat(workers.counted(Counter.STALE)).isZero();
    }

    @Test
    void shouldRunAtMostOnceJobsOfANodeThatDiedBeforeItsAck() {
        open(settings().withDelivery(Delivery.AT_MOST_ONCE));
        List<String> old = stranded(8);
        workers.start(
                "n0",
                builder -> builder.slots(4).handle("orders", (payload, job) -> {
                    runs.add("n0", job);
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    Thread.sleep(200);
                    now.decrementAndGet();
                }));
        await("all ran").atMost(LONG).until(() -> runs.size() == old.size());
        assertThat(runs.ids()).containsExactlyInAnyOrderElementsOf(old);
        assertThat(most.get()).as("none of them ever ran, so none is a suspect").isGreaterThan(1);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == 8);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldNotClaimATopicWithoutAHandler() {
        open(settings());
        try (Jobs others = new Jobs(redis, "invoices", settings())) {
            WorkerNode node = workers.start("n0", "orders", runs.handler("n0"));
            others.now("i");
            jobs.now("o");
            awaitState("o", JobState.DONE);
            assertThat(node.stats().heldBuckets())
                    .allMatch(bucket -> bucket.shard().topic().equals("orders"));
            assertThat(others.find("i").orElseThrow().state()).isEqualTo(JobState.PENDING);
            Runs invoices = new Runs();
            workers.start("n1", "invoices", invoices.handler("n1"));
            await("a node with a handler runs it").atMost(LONG).until(() -> invoices.size() == 1);
            assertThat(runs.ids()).containsExactly("o");
        }
    }

    @Test
    void shouldNeverExceedATopicsConcurrencyWhileOthersFlow() {
        open(settings().withVisibility(Duration.ofSeconds(30)));
        try (Jobs others = new Jobs(redis, "invoices", settings())) {
            workers.start(
                    "n0",
                    builder -> builder.slots(8)
                            .handle("orders", TopicOptions.defaults().concurrency(3), (payload, job) -> {
                                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                                Thread.sleep(50);
                                now.decrementAndGet();
                            })
                            .handle("invoices", runs.handler("n0")));
            List<NewJob> slow = new ArrayList<>();
            List<NewJob> quick = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                slow.add(Jobs.job("slow-" + i, jobs.nowMs(), "{}"));
                quick.add(Jobs.job("quick-" + i, jobs.nowMs() + 10L * i, "{}"));
            }
            jobs.scheduleAll(slow);
            others.scheduleAll(quick);
            await("the quick ones").atMost(LONG).until(() -> others.counter("done") == 60);
            assertThat(jobs.counter("done"))
                    .as("quick ones do not wait for slow ones")
                    .isLessThan(60);
            await("the slow ones").atMost(LONG).until(() -> jobs.counter("done") == 60);
            assertThat(most).as("at the same time").hasValue(3);
        }
    }
}

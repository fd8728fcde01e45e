package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.WorkerProcess.HoldAt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Processes that are killed with jobs in their hands (SIGKILL), beside a node that lives. */
class KilledProcessIT {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int JOBS = 40;

    /** What the design promises with the defaults; with the fast settings (dead after 3 s) the rest is for a busy machine. */
    private static final long BOUND_MS = 8000;

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private Jobs jobs;
    private ProcessUnderTest victim;

    @AfterEach
    void close() {
        workers.close();
        if (victim != null) {
            victim.close();
        }
        if (jobs != null) {
            jobs.close();
        }
    }

    private void open(String settings, HoldAt holdAt, Delivery delivery) {
        jobs = new Jobs(
                redis,
                "orders",
                TopicSettings.defaults()
                        .withShards(4)
                        .withDelivery(delivery)
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(200), 5)));
        victim = ProcessUnderTest.start(SharedRedis.get().uri(), redis, "orders", settings, holdAt);
        workers.start(
                "survivor",
                builder -> builder.settings(settings.equals("fast") ? Workers.FAST : WorkerSettings.defaults())
                        .handle("orders", runs.handler("survivor")));
        await("both are members and share the shards")
                .atMost(LONG)
                .until(() -> victim.lastStats().ready()
                        && survivor().stats().ownedShards() >= 1
                        && survivor().stats().ownedShards() <= 3);
    }

    private WorkerNode survivor() {
        return workers.first();
    }

    /** Schedules jobs until the victim holds some and the survivor has done the rest; returns the ids of those held. */
    private Set<String> loadUntilHeld() {
        List<NewJob> batch = new ArrayList<>();
        long dueMs = jobs.nowMs() + 200;
        for (int i = 0; i < JOBS; i++) {
            batch.add(Jobs.job("job-" + i, dueMs + i, "{}"));
        }
        jobs.scheduleAll(batch);
        await("the victim holds some, the survivor has done the rest")
                .atMost(LONG)
                .until(() -> victim.held() > 0 && victim.held() + runs.size() == JOBS);
        Set<String> held = new TreeSet<>(batch.stream().map(NewJob::id).toList());
        held.removeAll(runs.ids());
        assertThat(held).hasSize(victim.held());
        return held;
    }

    private long kill() {
        long killedMs = jobs.nowMs();
        victim.kill();
        return killedMs;
    }

    private void assertTakenOver(String what, Set<String> held, long killedMs) {
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS);
        List<Runs.Run> again =
                runs.all().stream().filter(run -> held.contains(run.id())).toList();
        long firstMs = again.stream().mapToLong(Runs.Run::startedMs).min().orElseThrow() - killedMs;
        long lastMs = again.stream().mapToLong(Runs.Run::startedMs).max().orElseThrow() - killedMs;
        System.out.printf("killed %s: held=%d taken over after ms=%d to %d%n", what, held.size(), firstMs, lastMs);
        assertThat(again).as("each once, by the survivor").hasSize(held.size());
        assertThat(again).allMatch(run -> run.delivery() == 2 && run.attempt() == 1);
        assertThat(lastMs).as("taken over after ms").isLessThanOrEqualTo(BOUND_MS);
        assertThat(runs.size()).isEqualTo(JOBS);
        assertThat(runs.early()).isZero();
        assertThat(jobs.inFlight()).isZero();
        assertThat(jobs.missing()).isZero();
        assertThat(workers.counted(Counter.RECOVERED)).isEqualTo(held.size());
    }

    @Test
    void shouldTakeOverWhatWasPoppedAndNeverStarted() {
        open("fast", HoldAt.POPPED, Delivery.AT_LEAST_ONCE);
        Set<String> held = loadUntilHeld();
        long killedMs = kill();
        assertTakenOver("after the pop", held, killedMs);
        assertThat(victim.starts()).as("so no job was started twice").isEmpty();
    }

    @Test
    void shouldTakeOverWhatWasInsideAHandlerAndTheBucketsWithTheDefaults() {
        open("default", HoldAt.HANDLER, Delivery.AT_LEAST_ONCE);
        Set<String> held = loadUntilHeld();
        long killedMs = kill();
        Runs first = runs;
        // Jobs that fall due while nobody drains the victim's shards.
        List<NewJob> after = new ArrayList<>();
        long nowMs = jobs.nowMs();
        for (int i = 0; i < 100; i++) {
            after.add(Jobs.job("after-" + i, nowMs + 60L * i, "{}"));
        }
        jobs.scheduleAll(after);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 100);
        List<Runs.Run> late =
                first.all().stream().filter(run -> run.id().startsWith("after")).toList();
        long worstMs = late.stream().mapToLong(Runs.Run::latenessUs).max().orElseThrow() / 1000;
        long againMs = first.all().stream()
                        .filter(run -> held.contains(run.id()))
                        .mapToLong(Runs.Run::startedMs)
                        .max()
                        .orElseThrow()
                - killedMs;
        System.out.printf(
                "killed inside handlers, defaults: held=%d taken over after ms=%d, fresh jobs late by ms=%d%n",
                held.size(), againMs, worstMs);
        assertThat(late).hasSize(100);
        assertThat(worstMs).as("late because of the kill, ms").isLessThanOrEqualTo(BOUND_MS);
        assertThat(againMs).as("taken over after ms").isLessThanOrEqualTo(BOUND_MS);
        assertThat(first.duplicates()).isZero();
        assertThat(victim.starts()).as("at most what was in flight ran twice").hasSize(held.size());
        assertThat(victim.ends()).isEmpty();
        assertThat(jobs.missing()).isZero();
        try (RedisCommands commands = SharedRedis.get().connect()) {
            assertThat(commands.texts("ZRANGE", jobs.connection().keys().nodes(), 0, -1))
                    .containsExactly(survivor().id());
        }
    }

    @Test
    void shouldRunOnceMoreWhatWasHandledAndNotAcknowledged() {
        open("fast", HoldAt.ACK, Delivery.AT_LEAST_ONCE);
        Set<String> held = loadUntilHeld();
        long killedMs = kill();
        assertTakenOver("before the ack", held, killedMs);
        assertThat(victim.ends()).containsExactlyInAnyOrderElementsOf(held);
    }

    @Test
    void shouldNotRunAgainWhatRunsAtMostOnce() {
        open("fast", HoldAt.HANDLER, Delivery.AT_MOST_ONCE);
        Set<String> held = loadUntilHeld();
        kill();
        await("the survivor has taken the shards over")
                .atMost(LONG)
                .until(() -> survivor().stats().ownedShards() == 4);
        List<NewJob> after = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            after.add(Jobs.job("after-" + i, jobs.nowMs(), "{}"));
        }
        jobs.scheduleAll(after);
        await("what comes later is done").atMost(LONG).until(() -> jobs.counter("done") == JOBS + 40);
        // A job that runs at most once is done before its handler starts, and may still wait for a thread.
        await("what comes later has run").atMost(LONG).until(() -> runs.size() >= JOBS - held.size() + 40);
        assertThat(runs.size()).isEqualTo(JOBS - held.size() + 40);
        assertThat(runs.duplicates()).isZero();
        assertThat(victim.starts().stream().map(ProcessUnderTest.Start::id).collect(Collectors.toSet()))
                .isEqualTo(held);
        assertThat(victim.starts()).hasSize(held.size());
        assertThat(jobs.inFlight()).isZero();
        assertThat(jobs.missing()).isZero();
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.WorkerProcess.HoldAt;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A job that ends the process that runs it, and a supervisor that starts the process again. */
class PoisonProcessIT {
    private static final Duration LONG = Duration.ofSeconds(120);
    private static final int GOOD = 20;

    @Test
    void shouldMakeADeadLetterOfAJobThatKillsItsNodeAndLoseNoOther() {
        RedisOptions redis = Workers.ownNamespace();
        List<ProcessUnderTest> processes = new ArrayList<>();
        try (Jobs jobs = new Jobs(
                redis,
                "orders",
                TopicSettings.defaults().withShards(2).withRetry(RetryPolicy.fixed(Duration.ofMillis(100), 2)))) {
            long dueMs = jobs.nowMs();
            List<NewJob> batch = new ArrayList<>();
            for (int i = 0; i < GOOD; i++) {
                batch.add(Jobs.job("good-" + i, dueMs, "sleep:150"));
            }
            batch.add(GOOD / 2, Jobs.job("poison", dueMs, "halt"));
            jobs.scheduleAll(batch);
            await("the poison is a dead letter, the good jobs are done")
                    .atMost(LONG)
                    .until(() -> {
                        if (processes.stream().noneMatch(ProcessUnderTest::isAlive)) {
                            processes.add(ProcessUnderTest.start(
                                    SharedRedis.get().uri(), redis, "orders", "fast", HoldAt.NOWHERE));
                        }
                        return jobs.counter("done") == GOOD
                                && jobs.find("poison").map(JobStatus::state).orElse(null) == JobState.DEAD;
                    });
            List<ProcessUnderTest.Start> starts = processes.stream()
                    .flatMap(process -> process.starts().stream())
                    .toList();
            List<ProcessUnderTest.Start> poison =
                    starts.stream().filter(start -> start.id().equals("poison")).toList();
            List<String> ends = processes.stream()
                    .flatMap(process -> process.ends().stream())
                    .toList();
            long again = starts.stream()
                            .filter(start -> !start.id().equals("poison"))
                            .count()
                    - GOOD;
            System.out.printf(
                    "poison: processes=%d starts of the poison=%d, of good jobs beyond the first=%d%n",
                    processes.size(), poison.size(), again);
            // 3 attempts allowed: the third delivery is the last that runs.
            assertThat(poison).extracting(ProcessUnderTest.Start::delivery).containsExactly(1, 2, 3);
            assertThat(poison).allMatch(start -> start.attempt() == 1);
            assertThat(processes).hasSize(4);
            assertThat(ends).as("each good job ended").contains(goodIds());
            assertThat(jobs.dead()).isEqualTo(1);
            // Once handed out twice, jobs run one at a time: the first crash repeats what was in flight, each later one
            // at most one.
            assertThat(again).as("good jobs started again").isLessThanOrEqualTo(GOOD + 2);
            var letter = jobs.find("poison").orElseThrow().job();
            assertThat(letter.payload()).isEqualTo("halt".getBytes(StandardCharsets.UTF_8));
            assertThat(letter.lastFailure()).contains("handed out 4 times without an answer");
            assertThat(jobs.missing()).isZero();
        } finally {
            processes.forEach(ProcessUnderTest::close);
        }
    }

    private static String[] goodIds() {
        String[] ids = new String[GOOD];
        for (int i = 0; i < GOOD; i++) {
            ids[i] = "good-" + i;
        }
        return ids;
    }
}

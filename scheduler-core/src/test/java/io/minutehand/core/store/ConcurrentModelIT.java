package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Eight processes at once on one shard: whatever they call, their answers are those of some order of the calls in which each lies between call and
 * return, and the server says which. {@code -Dminutehand.concurrent.rounds=1000} runs more of it, {@code -Dminutehand.concurrent.seed=...} other
 * calls.
 */
class ConcurrentModelIT {
    private static final long SEED = Long.getLong("minutehand.concurrent.seed", 20_260_101);
    private static final int ROUNDS = Integer.getInteger("minutehand.concurrent.rounds", 20);

    /** Answers that show that the processes met, and that much of what they call succeeds. */
    private static final List<String> TELLING = List.of(
            "ACK true",
            "ACK false",
            "BURY Optional",
            "CANCEL CANCELLED",
            "CANCEL ELSEWHERE",
            "CANCEL RUNNING",
            "CLAIM true",
            "CLAIM false",
            "POP OK with jobs",
            "POP FENCED",
            "POP OLD",
            "RECOVER OK with jobs",
            "REDRIVE true",
            "RESCHEDULE MOVED",
            "RETRY true",
            "SCHEDULE CREATED",
            "SCHEDULE EXISTS",
            "SCHEDULE REPLACED");

    @Test
    void shouldAnswerAsIfCallsCameOneAfterTheOther() {
        try (TestStore store = TestStore.open();
                ConcurrentRun run = new ConcurrentRun(store)) {
            long beganNs = System.nanoTime();
            for (int i = 0; i < ROUNDS; i++) {
                Optional<ModelRun.Failure> failure = run.round(SEED + i);
                if (failure.isPresent()) {
                    fail("seed %d: %s", SEED + i, run.smallest(failure.get()));
                }
            }
            System.out.printf(
                    "calls at once: seed=%d rounds=%d processes=%d events=%d overtaken=%d seconds=%d%n",
                    SEED,
                    ROUNDS,
                    ConcurrentRun.PROCESSES,
                    run.events(),
                    run.overtaken(),
                    Duration.ofNanos(System.nanoTime() - beganNs).toSeconds());
            Map<String, Long> telling = TELLING.stream()
                    .collect(Collectors.toMap(
                            answer -> answer,
                            answer -> run.answers().entrySet().stream()
                                    .filter(counted -> (counted.getKey() + " ").startsWith(answer + " "))
                                    .mapToLong(Map.Entry::getValue)
                                    .sum()));
            System.out.println("calls at once: " + telling);

            assertThat(telling.values()).as("answers in %s", telling).allMatch(times -> times > 0);
            assertThat(run.overtaken())
                    .as("calls that ran after one that was called later")
                    .isGreaterThan(run.events() / 20);
        }
    }
}

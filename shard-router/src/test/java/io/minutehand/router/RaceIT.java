package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.ScheduleResult.Status;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two routers at the same job at the same time, 1,000 rounds each from a barrier, both orders seen. */
class RaceIT {
    private static final int ROUNDS = 1000;
    private static final Duration FAR = Duration.ofMinutes(30);

    private final RedisOptions options = Redises.shared();
    private final CyclicBarrier barrier = new CyclicBarrier(2);
    private JobRouter left;
    private JobRouter right;
    private PlayedNode node;

    @BeforeEach
    void connect() {
        left = JobRouter.builder().redis(options).connect();
        right = JobRouter.builder().redis(options).connect();
        node = new PlayedNode(options, "t", TopicSettings.defaults());
        left.topic("t").find("warm.up").join();
        right.topic("t").find("warm.up").join();
    }

    @AfterEach
    void close() {
        assertThat(node.missing()).isZero();
        left.close();
        right.close();
        node.close();
    }

    /** What both sides said, by round. */
    private record Answers<A, B>(List<CompletableFuture<A>> left, List<CompletableFuture<B>> right) {}

    /** Lets both sides make a call a round, each round from the barrier; answers are collected. */
    private <A, B> Answers<A, B> race(IntFunction<CompletableFuture<A>> one, IntFunction<CompletableFuture<B>> other) {
        CompletableFuture<List<CompletableFuture<A>>> first = CompletableFuture.supplyAsync(() -> rounds(one));
        List<CompletableFuture<B>> second = rounds(other);
        return new Answers<>(first.join(), second);
    }

    private <T> List<CompletableFuture<T>> rounds(IntFunction<CompletableFuture<T>> call) {
        List<CompletableFuture<T>> answers = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            try {
                barrier.await(20, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException("the other side did not come to round " + i, e);
            }
            answers.add(call.apply(i));
            if (i % 8 == 0) {
                // So that batches stay small, and the sides change places.
                answers.get(i).join();
            }
        }
        return answers;
    }

    @Test
    void shouldCreateAJobOnceThatTwoRoutersSchedule() {
        IntFunction<JobSpec<byte[]>> spec =
                i -> JobSpec.of(new byte[1]).id("same:" + i).after(FAR);
        var answers = race(
                i -> left.topic("t").schedule(spec.apply(i)),
                i -> right.topic("t").schedule(spec.apply(i)));
        int leftFirst = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Status one = answers.left().get(i).join().status();
            Status other = answers.right().get(i).join().status();
            assertThat(new Status[] {one, other}).containsExactlyInAnyOrder(Status.CREATED, Status.EXISTS);
            leftFirst += one == Status.CREATED ? 1 : 0;
        }
        assertThat(leftFirst).as("rounds that the left one won").isBetween(1, ROUNDS - 1);
        assertThat(node.pending()).isEqualTo(ROUNDS);
    }

    @Test
    void shouldLetOneOfTwoDifferentRequestsWin() {
        var answers = race(
                i -> left.topic("t")
                        .schedule(JobSpec.of(bytes("left")).id("two:" + i).after(FAR)),
                i -> right.topic("t")
                        .schedule(JobSpec.of(bytes("right")).id("two:" + i).after(FAR)));
        int leftFirst = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Status one = answers.left().get(i).join().status();
            Status other = answers.right().get(i).join().status();
            assertThat(new Status[] {one, other}).containsExactlyInAnyOrder(Status.CREATED, Status.CONFLICT);
            leftFirst += one == Status.CREATED ? 1 : 0;
            if (i % 50 == 0) {
                assertThat(left.topic("t")
                                .find("two:" + i)
                                .join()
                                .orElseThrow()
                                .job()
                                .payload())
                        .isEqualTo(bytes(one == Status.CREATED ? "left" : "right"));
            }
        }
        assertThat(leftFirst).as("rounds that the left one won").isBetween(1, ROUNDS - 1);
    }

    @Test
    void shouldSayOneTruthOfCancelAgainstReschedule() {
        List<JobSpec<byte[]>> specs = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            specs.add(JobSpec.of(new byte[1]).id("move:" + i).after(FAR));
        }
        assertThat(left.topic("t").scheduleAll(specs).join().accepted()).isEqualTo(ROUNDS);
        var answers = race(
                i -> left.topic("t").cancel("move:" + i),
                i -> right.topic("t").reschedule("move:" + i, FAR.plusMinutes(5)));
        int moved = 0;
        for (int i = 0; i < ROUNDS; i++) {
            assertThat(answers.left().get(i).join().status()).isEqualTo(CancelResult.Status.CANCELLED);
            RescheduleResult other = answers.right().get(i).join();
            if (other.status() == RescheduleResult.Status.MOVED) {
                moved++;
            } else {
                assertThat(other)
                        .isEqualTo(
                                new RescheduleResult("move:" + i, RescheduleResult.Status.ENDED, JobState.CANCELLED));
            }
        }
        assertThat(moved).as("rounds in which the reschedule came first").isBetween(1, ROUNDS - 1);
        assertThat(node.pending()).isZero();
        assertThat(node.counter("cancelled")).isEqualTo(ROUNDS);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

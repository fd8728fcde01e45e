package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobState;
import io.minutehand.core.store.HedgedSchedules.Answer;
import io.minutehand.core.store.ScheduleOutcome.Item;
import io.minutehand.core.store.ScheduleOutcome.ItemStatus;
import io.minutehand.core.store.ScheduleOutcome.Status;
import io.minutehand.core.store.StoreException.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HedgedSchedulesTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Item NEW = new Item(ItemStatus.CREATED, null, 0);
    private static final Item OLD = new Item(ItemStatus.EXISTS, JobState.PENDING, 0);
    private static final ScheduleOutcome CREATED = new ScheduleOutcome(Status.OK, List.of(NEW, NEW), 0);
    private static final ScheduleOutcome HALF = new ScheduleOutcome(Status.OK, List.of(NEW, OLD), 0);
    private static final ScheduleOutcome EXISTS = new ScheduleOutcome(Status.OK, List.of(OLD, OLD), 0);
    private static final ScheduleOutcome STALE = new ScheduleOutcome(Status.STALE_SETTINGS, List.of(), 0);

    /** Held while a twin is sent: who holds it sees only twins whose answers are listened for. */
    private final Object sending = new Object();

    private Sent send(Duration deadline) {
        return send(deadline, Duration.ofMillis(50));
    }

    private Sent send(Duration deadline, Duration grace) {
        return send(new HedgedSchedules(this::run, grace), deadline);
    }

    private Sent send(HedgedSchedules calls, Duration deadline) {
        Sent call = new Sent();
        call.answer = calls.send(call::twin, System.nanoTime() + deadline.toNanos());
        return call;
    }

    private void run(Runnable task) {
        synchronized (sending) {
            task.run();
        }
    }

    /** Sends a call that nobody answers and waits for its twins: whatever was sent before it would have had its own by now. */
    private void awaitOtherTwins() {
        send(LONG).awaitTwins(1 + Patience.TWINS);
    }

    /** A call and its twins. */
    private final class Sent {
        final List<CompletableFuture<ScheduleOutcome>> twins = new CopyOnWriteArrayList<>();
        CompletableFuture<Answer> answer = new CompletableFuture<>();

        CompletableFuture<ScheduleOutcome> twin() {
            CompletableFuture<ScheduleOutcome> twin = new CompletableFuture<>();
            twins.add(twin);
            return twin;
        }

        void awaitTwins(int count) {
            await().atMost(LONG).until(() -> {
                synchronized (sending) {
                    return twins.size() >= count;
                }
            });
        }

        void answer(int twin, ScheduleOutcome outcome) {
            twins.get(twin).complete(outcome);
        }

        void fail(int twin, Kind kind) {
            twins.get(twin).completeExceptionally(new StoreException(kind, "as the test wants it", null));
        }

        Kind failure() {
            assertThat(answer).isCompletedExceptionally();
            return answer.handle((value, thrown) -> StoreException.of(thrown))
                    .join()
                    .kind();
        }
    }

    @Test
    void shouldSendOnceWhatIsAnswered() {
        Sent call = send(LONG);
        call.answer(0, EXISTS);

        assertThat(call.answer).isCompletedWithValue(new Answer(EXISTS, false));
        awaitOtherTwins();
        assertThat(call.twins).hasSize(1);
    }

    @Test
    void shouldTakeTheFirstAnswerThatCreatedAllJobs() {
        Sent call = send(LONG);
        call.awaitTwins(2);
        call.answer(1, CREATED);

        assertThat(call.answer).isCompletedWithValue(new Answer(CREATED, true));
        call.answer(0, EXISTS);
        assertThat(call.answer).isCompletedWithValue(new Answer(CREATED, true));
    }

    @Test
    void shouldNotSayThatAJobExistsWhichATwinHasCreated() {
        Sent call = send(LONG, LONG);
        call.awaitTwins(3);
        call.answer(2, EXISTS);
        assertThat(call.answer).isNotDone();
        call.answer(0, HALF);
        assertThat(call.answer).isNotDone();
        call.answer(1, EXISTS);

        assertThat(call.answer).isCompletedWithValue(new Answer(HALF, false));
    }

    @Test
    void shouldNotWaitLongForATwinWhoseReplyIsLost() {
        Sent call = send(LONG);
        call.awaitTwins(2);
        call.answer(1, EXISTS);

        await().atMost(LONG).until(call.answer::isDone);
        assertThat(call.answer).isCompletedWithValue(new Answer(EXISTS, true));
        awaitOtherTwins();
        assertThat(call.twins).hasSize(2);
    }

    @Test
    void shouldBeInDoubtAboutATwinThatGotNoAnswer() {
        Sent call = send(LONG);
        call.awaitTwins(2);
        call.fail(0, Kind.UNKNOWN);
        assertThat(call.answer).isNotDone();
        call.answer(1, STALE);

        assertThat(call.answer).isCompletedWithValue(new Answer(STALE, true));
    }

    @Test
    void shouldSendTwoTwinsAtMostAndFailWhenAllHave() {
        Sent call = send(LONG);
        call.awaitTwins(3);
        call.fail(0, Kind.UNAVAILABLE);
        call.fail(1, Kind.UNAVAILABLE);
        assertThat(call.answer).isNotDone();
        call.fail(2, Kind.UNAVAILABLE);

        assertThat(call.failure()).isEqualTo(Kind.UNAVAILABLE);
        assertThat(call.twins).hasSize(3);
    }

    @Test
    void shouldNotCallDefiniteWhatAnyTwinMayHaveDone() {
        Sent call = send(LONG);
        call.awaitTwins(3);
        call.fail(1, Kind.FULL);
        call.fail(0, Kind.UNKNOWN);
        call.fail(2, Kind.FULL);

        assertThat(call.failure()).isEqualTo(Kind.UNKNOWN);
    }

    @Test
    void shouldNotSendATwinOfWhatFailed() {
        Sent call = send(LONG);
        call.fail(0, Kind.REFUSED);

        assertThat(call.failure()).isEqualTo(Kind.REFUSED);
        awaitOtherTwins();
        assertThat(call.twins).hasSize(1);
    }

    @Test
    void shouldSendNoTwinAfterTheDeadline() {
        Sent call = send(Duration.ZERO);
        awaitOtherTwins();
        assertThat(call.twins).hasSize(1);
        call.answer(0, CREATED);

        assertThat(call.answer).isCompletedWithValue(new Answer(CREATED, false));
    }

    @Test
    void shouldWaitLongerForATwinWhereAnswersTakeLong() {
        HedgedSchedules calls = new HedgedSchedules(this::run);
        for (int i = 0; i < 4; i++) {
            Sent slow = send(calls, LONG);
            slow.twins.get(0).completeOnTimeout(CREATED, 250, TimeUnit.MILLISECONDS);
            await().atMost(LONG).until(slow.answer::isDone);
        }
        long sentNs = System.nanoTime();
        send(calls, LONG).awaitTwins(2);

        assertThat(System.nanoTime() - sentNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
    }
}

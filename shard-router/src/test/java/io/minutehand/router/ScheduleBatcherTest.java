package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.JobForms;
import io.minutehand.core.write.WriteResult;
import io.minutehand.router.FakeBackend.Write;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How jobs become batches, in which order they leave, and what is said of those that do not. */
class ScheduleBatcherTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    /** One for all jobs of a test: however slow the machine, they share a batch. */
    private final long deadlineNs = System.nanoTime() + DEADLINE.toNanos();

    private final RouterLoop loop = new RouterLoop("test-loop");
    private final Callbacks callbacks = new Callbacks("test");
    private final FakeBackend redis = new FakeBackend();
    private final Recorders telemetry = new Recorders();
    private final ScheduleBatcher batcher = new ScheduleBatcher(loop, redis, callbacks, telemetry, DEADLINE);
    private final Admission admission = new Admission(RouterSettings.defaults());
    private final JobForms forms = new JobForms(null, Limits.PAYLOAD_BYTES);
    private final Route route = batcher.route("t");

    @AfterEach
    void end() {
        loop.stop();
        callbacks.close();
    }

    private void begin() {
        redis.topic.complete(FakeBackend.settings());
        loop.begin(batcher);
    }

    private CompletableFuture<ScheduleResult> schedule(JobSpec<?> spec, Duration deadline) {
        long nowNs = System.nanoTime();
        JobForms.Draft draft = forms.draft(spec);
        CompletableFuture<ScheduleResult> answer = new CompletableFuture<>();
        WaitingJob.Sink sink = new WaitingJob.Sink() {
            @Override
            public void answered(int index, ScheduleResult result) {
                answer.complete(result);
            }

            @Override
            public void failed(int index, Throwable failure) {
                answer.completeExceptionally(failure);
            }
        };
        Arrival.Ticket ticket = new Arrival.Ticket(
                route,
                draft.id(),
                deadline == DEADLINE ? deadlineNs : nowNs + deadline.toNanos(),
                admission.admit("schedule", RouterSettings.heldBytes(draft)));
        batcher.submit(new WaitingJob(ticket, draft, nowNs, sink, 0));
        return answer;
    }

    private CompletableFuture<ScheduleResult> schedule(String id) {
        return schedule(JobSpec.of(new byte[10]).id(id), DEADLINE);
    }

    private CompletableFuture<String> order(
            String id, Duration deadline, String unknown, Function<StoredTopic, CompletableFuture<String>> call) {
        Arrival.Ticket ticket =
                new Arrival.Ticket(route, id, System.nanoTime() + deadline.toNanos(), admission.admit("cancel", 100));
        WaitingOrder<String> order = new WaitingOrder<>(ticket, "cancel", call, unknown);
        batcher.submit(order);
        return order.future();
    }

    private Write nextWrite() {
        await("a write").until(() -> !redis.writes.isEmpty());
        return redis.writes.remove();
    }

    @Test
    void shouldSendALoneJobAtOnce() {
        begin();
        CompletableFuture<ScheduleResult> answer = schedule("a");
        Write write = nextWrite();
        assertThat(write.ids()).containsExactly("a");
        write.end(WriteResult.Status.CREATED);
        assertThat(answer.join().status()).isEqualTo(Status.CREATED);
        await("the buffer is given back").until(() -> admission.usedBytes() == 0);
        await("counted").until(() -> telemetry.counted(Counter.SCHEDULED, "t") == 1);
    }

    @Test
    void shouldGatherABatchWhileAWriteIsUnderWay() {
        begin();
        schedule("first");
        Write first = nextWrite();
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < Limits.BATCH_JOBS + 10; i++) {
            ids.add("j" + i);
            schedule("j" + i);
        }
        first.end(WriteResult.Status.CREATED);
        Write second = nextWrite();
        assertThat(second.ids()).isEqualTo(ids.subList(0, Limits.BATCH_JOBS));
        assertThat(redis.writes).isEmpty();
        second.end(WriteResult.Status.CREATED);
        assertThat(nextWrite().ids()).isEqualTo(ids.subList(Limits.BATCH_JOBS, ids.size()));
    }

    @Test
    void shouldEndABatchBeforeItsBytesPassTheLimit() {
        begin();
        schedule("first");
        Write first = nextWrite();
        for (int i = 0; i < 5; i++) {
            schedule(JobSpec.of(new byte[Limits.PAYLOAD_BYTES - 4]).id("large" + i), DEADLINE);
        }
        first.end(WriteResult.Status.CREATED);
        assertThat(nextWrite().ids()).containsExactly("large0", "large1", "large2", "large3");
    }

    @Test
    void shouldPutASecondReplacementOfAnIdIntoTheNextBatch() {
        begin();
        schedule("first");
        Write first = nextWrite();
        JobSpec<byte[]> spec = JobSpec.of(new byte[1]);
        schedule(spec.id("a").replacing(), DEADLINE);
        schedule(spec.id("b"), DEADLINE);
        schedule(spec.id("a"), DEADLINE);
        schedule(spec.id("b").replacing(), DEADLINE);
        schedule(spec.id("c"), DEADLINE);
        schedule(spec.id("c").replacing(), DEADLINE);
        first.end(WriteResult.Status.CREATED);
        Write second = nextWrite();
        assertThat(second.ids()).containsExactly("a", "b", "a");
        second.end(WriteResult.Status.CREATED);
        Write third = nextWrite();
        assertThat(third.ids()).containsExactly("b", "c");
        third.end(WriteResult.Status.CREATED);
        assertThat(nextWrite().ids()).containsExactly("c");
    }

    @Test
    void shouldKeepJobsOfOtherDeadlinesForTheNextBatch() {
        begin();
        schedule("first");
        Write first = nextWrite();
        schedule(JobSpec.of("x").id("short"), Duration.ofSeconds(5));
        schedule(JobSpec.of("x").id("long"), Duration.ofSeconds(15));
        first.end(WriteResult.Status.CREATED);
        Write second = nextWrite();
        assertThat(second.ids()).containsExactly("short");
        assertThat(second.deadlineNs() - System.nanoTime()).isLessThan(TimeUnit.SECONDS.toNanos(5));
    }

    @Test
    void shouldSendWhatGatheredDuringALostReplyInOneBatch() {
        begin();
        schedule("first");
        Write first = nextWrite();
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            ids.add("j" + i);
            schedule(JobSpec.of(new byte[10]).id("j" + i), DEADLINE.plusMillis(100L * i));
        }
        first.end(WriteResult.Status.CREATED);
        assertThat(nextWrite().ids()).isEqualTo(ids);
    }

    @Test
    void shouldSayNotStoredOfAJobThatDidNotLeaveBeforeItsDeadline() {
        begin();
        schedule("first");
        Write first = nextWrite();
        CompletableFuture<ScheduleResult> late = schedule(JobSpec.of("x").id("late"), Duration.ofMillis(50));
        assertThat(late.join().status()).isEqualTo(Status.NOT_STORED);
        first.end(WriteResult.Status.CREATED);
        schedule("next");
        assertThat(nextWrite().ids()).containsExactly("next");
        assertThat(telemetry.counted(Counter.SCHEDULE_FAILED, "t")).isEqualTo(1);
    }

    @Test
    void shouldHoldCallsBackUntilTheTopicIsKnownAndKeepTheirOrder() {
        loop.begin(batcher);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            ids.add("j" + i);
            schedule("j" + i);
        }
        await("the topic is asked for").until(() -> redis.asked.get() == 1);
        redis.topic.complete(FakeBackend.settings());
        assertThat(nextWrite().ids()).isEqualTo(ids);
        assertThat(redis.asked.get()).isEqualTo(1);
    }

    @Test
    void shouldSayNotStoredWhenTheTopicDoesNotBecomeKnownInTime() {
        loop.begin(batcher);
        CompletableFuture<String> order = order("x", Duration.ofMillis(50), "unknown", stored -> null);
        CompletableFuture<ScheduleResult> job = schedule(JobSpec.of("x").id("late"), Duration.ofMillis(50));
        assertThat(job.join().status()).isEqualTo(Status.NOT_STORED);
        assertThat(order.join()).isEqualTo("unknown");
    }

    @Test
    void shouldFailCallsOfATopicThatIsRefused() {
        IllegalStateException refusal = new IllegalStateException("a test refuses this");
        redis.nextAnswer = CompletableFuture.failedFuture(refusal);
        loop.begin(batcher);
        assertThatThrownBy(() -> schedule("x").get(30, TimeUnit.SECONDS)).hasCause(refusal);
        assertThatThrownBy(() -> order("x", DEADLINE, "unknown", stored -> null).get(30, TimeUnit.SECONDS))
                .hasCause(refusal);
        redis.nextAnswer = redis.topic;
        redis.topic.complete(FakeBackend.settings());
        schedule("y");
        assertThat(nextWrite().ids()).containsExactly("y");
    }

    @Test
    void shouldFailAllJobsOfABatchThatIsRefused() {
        begin();
        CompletableFuture<ScheduleResult> answer = schedule("a");
        nextWrite().answer().completeExceptionally(new IllegalStateException("a test refuses this"));
        assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("a test refuses this");
        await("counted").until(() -> telemetry.counted(Counter.STORE_ERRORS, "t") == 1);
        await("the buffer is given back").until(() -> admission.usedBytes() == 0);
    }

    @Test
    void shouldStartAnOrderBehindTheJobsThatCameBefore() {
        begin();
        schedule("a");
        Write first = nextWrite();
        schedule("b");
        CompletableFuture<StoredTopic> started = new CompletableFuture<>();
        CompletableFuture<String> order = order("b", DEADLINE, "unknown", stored -> {
            started.complete(stored);
            return CompletableFuture.completedFuture("done");
        });
        schedule("c");
        first.end(WriteResult.Status.CREATED);
        Write second = nextWrite();
        assertThat(second.ids()).containsExactly("b", "c");
        assertThat(started).isNotDone();
        second.end(WriteResult.Status.CREATED);
        assertThat(order.join()).isEqualTo("done");
        assertThat(started.join()).isEqualTo(FakeBackend.settings());
    }

    @Test
    void shouldBoundTheOrdersUnderWay() {
        begin();
        List<CompletableFuture<String>> calls = java.util.Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<String>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(order("x" + i, DEADLINE, "unknown", stored -> {
                CompletableFuture<String> call = new CompletableFuture<>();
                calls.add(call);
                return call;
            }));
        }
        await("eight start").until(() -> calls.size() == 8);
        calls.get(3).complete("done");
        assertThat(answers.get(3).join()).isEqualTo("done");
        await("another starts").until(() -> calls.size() == 9);
        for (int i = 0; i < 20; i++) {
            int number = i;
            await("all start in turn").until(() -> calls.size() > number);
            calls.get(i).complete("done");
        }
        answers.forEach(answer -> assertThat(answer.join()).isEqualTo("done"));
    }

    @Test
    void shouldFailAnOrderThatHasNoAnswerForItsDeadline() {
        begin();
        schedule("a");
        nextWrite();
        CompletableFuture<String> order = order("b", Duration.ofMillis(50), null, stored -> null);
        assertThatThrownBy(() -> order.get(30, TimeUnit.SECONDS))
                .hasCauseInstanceOf(TimeoutException.class)
                .hasMessageContainingAll("cancel of job b", "topic=t", "deadline");
    }

    @Test
    void shouldAnswerEverythingWhenItIsAbandoned() {
        begin();
        CompletableFuture<ScheduleResult> sent = schedule("sent");
        nextWrite();
        CompletableFuture<ScheduleResult> unsent = schedule("unsent");
        CompletableFuture<String> order = order("b", DEADLINE, "unknown", stored -> null);
        loop.execute(batcher::abandon);
        assertThat(sent.join().status()).isEqualTo(Status.UNKNOWN);
        assertThat(unsent.join().status()).isEqualTo(Status.NOT_STORED);
        assertThat(order.join()).isEqualTo("unknown");
        await("the buffer is given back").until(() -> admission.usedBytes() == 0);
    }
}

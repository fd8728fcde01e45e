package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Flush, close, and code that is chained to the router's futures. */
class CloseIT {
    private final RedisOptions options = Redises.shared();

    private JobRouter connect() {
        return JobRouter.builder().redis(options).connect();
    }

    private static JobSpec<byte[]> job(String id) {
        return JobSpec.of(new byte[10]).id(id).after(Duration.ofMinutes(30));
    }

    @Test
    void shouldStoreEverythingBeforeItCloses() {
        JobRouter router = connect();
        List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            answers.add(router.topic("t").schedule(job("x" + i)));
        }
        router.close();
        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer).isCompleted();
            assertThat(answer.join().status()).isEqualTo(Status.CREATED);
        });
        try (PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
            assertThat(node.pending()).isEqualTo(5000);
        }
    }

    @Test
    void shouldRefuseEveryCallOnceClosed() {
        JobRouter router = connect();
        TopicHandle<byte[]> topic = router.topic("t");
        router.close();
        router.close();
        assertThatThrownBy(() -> topic.schedule(job("a")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("schedule refused: this JobRouter is closed");
        assertThatThrownBy(() -> topic.scheduleAll(List.of(job("a")))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> topic.cancel("a")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> topic.reschedule("a", Duration.ZERO)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> topic.find("a")).isInstanceOf(IllegalStateException.class);
        router.flush();
    }

    @Test
    void shouldAnswerEveryCallThatRacesWithSeveralCloses() {
        for (int round = 0; round < 3; round++) {
            JobRouter router =
                    JobRouter.builder().redis(options).bufferBytes(400_000).connect();
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("warm")).join();
            AtomicInteger accepted = new AtomicInteger();
            AtomicInteger answered = new AtomicInteger();
            List<CompletableFuture<Void>> callers = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                callers.add(CompletableFuture.runAsync(() -> {
                    try {
                        while (true) {
                            topic.schedule(job("x" + accepted.get())).whenComplete((result, failure) -> {
                                assertThat(failure).isNull();
                                answered.incrementAndGet();
                            });
                            accepted.incrementAndGet();
                        }
                    } catch (IllegalStateException closed) {
                        assertThat(closed).hasMessageContaining("closed");
                    }
                }));
            }
            await("load").until(() -> answered.get() > 50);
            List<CompletableFuture<Void>> closers =
                    List.of(CompletableFuture.runAsync(router::close), CompletableFuture.runAsync(router::close));
            router.close();
            assertThat(router.bufferedBytes()).isZero();
            CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).join();
            CompletableFuture.allOf(closers.toArray(CompletableFuture[]::new)).join();
            assertThat(answered).hasValue(accepted.get());
        }
    }

    @Test
    void shouldWaitInFlushForWhatThisThreadCalledAndNotForOthersForEver() {
        try (JobRouter router =
                JobRouter.builder().redis(options).bufferBytes(400_000).connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            AtomicInteger ended = new AtomicInteger();
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                for (int i = 0; ended.get() == 0; i++) {
                    topic.schedule(job("other" + i));
                }
            });
            for (int i = 0; i < 20; i++) {
                CompletableFuture<ScheduleResult> mine = topic.schedule(job("mine" + i));
                CompletableFuture<CancelResult> cancelled = topic.cancel("mine" + i);
                router.flush();
                assertThat(mine).isCompleted();
                assertThat(cancelled)
                        .isCompletedWithValue(new CancelResult("mine" + i, CancelResult.Status.CANCELLED, null));
            }
            ended.set(1);
            other.join();
        }
    }

    @Test
    void shouldRunCallbacksOnItsOwnThreadsAndLetThemBlock() throws Exception {
        try (JobRouter router = connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            List<CompletableFuture<String>> chained = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                int number = i;
                chained.add(topic.schedule(job("x" + i)).thenApply(result -> {
                    assertThat(topic.find("x" + number).join()).isPresent();
                    assertThat(topic.schedule(job("y" + number)).join().status())
                            .isEqualTo(Status.CREATED);
                    return Thread.currentThread().getName();
                }));
            }
            for (CompletableFuture<String> name : chained) {
                assertThat(name.get(30, TimeUnit.SECONDS))
                        .matches("(minutehand-router-\\d+-callbacks-\\d+|.*main.*|.*worker.*)");
            }
        }
    }

    @Test
    void shouldRefuseFlushAndCloseInACallback() {
        try (JobRouter router = connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("warm")).join();
            CompletableFuture<Throwable> refusal = new CompletableFuture<>();
            CompletableFuture<ScheduleResult> gate = new CompletableFuture<>();
            List<JobSpec<byte[]>> many = new ArrayList<>();
            for (int i = 0; i < 20_000; i++) {
                many.add(job("x" + i));
            }
            // Chained before the answer can be there: so it runs where the router completes it.
            topic.scheduleAll(many);
            topic.schedule(job("last")).whenComplete((result, failure) -> {
                try {
                    router.flush();
                } catch (IllegalStateException e) {
                    refusal.complete(e);
                }
                gate.complete(result);
            });
            gate.join();
            assertThat(refusal).isCompleted();
            assertThat(refusal.join()).hasMessageContaining("flush() was called by code that is chained");
        }
    }
}

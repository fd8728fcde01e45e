package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What callers see while Redis is away, for less and for more than the deadline. */
class OutageIT {
    private static final Duration FAR = Duration.ofMinutes(30);
    private static final Duration SHORT = Duration.ofSeconds(2);

    private RedisServer server;
    private RedisOptions options;

    @BeforeEach
    void start() {
        server = RedisServer.start(RedisSettings.defaults().withAppendOnly());
        options = Redises.impatient(server);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private JobRouter.Builder router() {
        return JobRouter.builder().redis(options);
    }

    private static JobSpec<byte[]> job(String id) {
        return JobSpec.of(new byte[50]).id(id).after(FAR);
    }

    private static List<CompletableFuture<ScheduleResult>> schedule(TopicHandle<byte[]> topic, String name, int jobs) {
        List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            answers.add(topic.schedule(job(name + i)));
        }
        return answers;
    }

    private static Set<Status> statuses(List<CompletableFuture<ScheduleResult>> answers) {
        EnumSet<Status> seen = EnumSet.noneOf(Status.class);
        answers.forEach(answer -> seen.add(answer.join().status()));
        return seen;
    }

    @Test
    void shouldWaitForAPausedRedisAndStoreEachJobOnce() {
        try (JobRouter router = router().connect();
                PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("moved")).join();
            topic.schedule(job("cancelled")).join();
            List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>(schedule(topic, "before", 2000));
            server.pause();
            answers.addAll(schedule(topic, "meanwhile", 2000));
            var cancel = topic.cancel("cancelled");
            var reschedule = topic.reschedule("moved", FAR.plusMinutes(10));
            var find = topic.find("before0");
            // Longer than the reply time-out, twice over: replies are lost and calls repeated.
            CompletableFuture<Void> pause = CompletableFuture.runAsync(
                    () -> {}, CompletableFuture.delayedExecutor(2500, TimeUnit.MILLISECONDS));
            await("the pause is over").until(pause::isDone);
            assertThat(answers).anySatisfy(answer -> assertThat(answer).isNotDone());
            server.resume();
            assertThat(statuses(answers)).isSubsetOf(Status.CREATED, Status.EXISTS);
            assertThat(cancel.join().status()).isEqualTo(CancelResult.Status.CANCELLED);
            assertThat(reschedule.join().status()).isEqualTo(RescheduleResult.Status.MOVED);
            assertThat(find.join()).isPresent();
            assertThat(node.counter("accepted")).isEqualTo(4002);
            assertThat(node.pending()).isEqualTo(4001);
            assertThat(node.missing()).isZero();
            assertThat(router.bufferedBytes()).isZero();
        }
    }

    @Test
    void shouldGoOnAfterACrashAndARestart() {
        try (JobRouter router = router().connect();
                PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("first")).join();
            List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>(schedule(topic, "before", 1000));
            server.killOnceWritten();
            answers.addAll(schedule(topic, "meanwhile", 1000));
            server.restart();
            assertThat(statuses(answers)).isSubsetOf(Status.CREATED, Status.EXISTS);
            await("the node's connection is back").ignoreExceptions().until(() -> node.pending() == 2001);
        }
    }

    @Test
    void shouldSayUnknownOrNotStoredOnlyAfterTheDeadline() {
        try (JobRouter router = router().deadline(SHORT).connect();
                JobRouter patient = router().connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("first")).join();
            server.pause();
            long pausedNs = System.nanoTime();
            List<CompletableFuture<ScheduleResult>> answers = schedule(topic, "x", 5000);
            var cancel = topic.cancel("first");
            var reschedule = topic.reschedule("first", FAR);
            var find = topic.find("first");
            assertThat(statuses(answers)).isEqualTo(EnumSet.of(Status.UNKNOWN, Status.NOT_STORED));
            assertThat(cancel.join().status()).isEqualTo(CancelResult.Status.UNKNOWN);
            assertThat(reschedule.join().status()).isEqualTo(RescheduleResult.Status.UNKNOWN);
            assertThatThrownBy(() -> find.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TimeoutException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - pausedNs)).isBetween(SHORT, SHORT.plusSeconds(10));
            server.resume();
            // Whatever was said: the same ids again give one job each.
            assertThat(statuses(schedule(patient.topic("t"), "x", 5000))).isSubsetOf(Status.CREATED, Status.EXISTS);
            try (PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
                assertThat(node.counter("accepted")).isEqualTo(5001);
            }
        }
    }

    @Test
    void shouldAnswerEverythingWhenRedisIsGone() {
        try (JobRouter router = router().deadline(SHORT).connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("first")).join();
            server.kill();
            List<CompletableFuture<ScheduleResult>> answers = schedule(topic, "x", 1000);
            answers.addAll(schedule(router.topic("never.seen"), "y", 10));
            assertThat(statuses(answers)).isSubsetOf(Status.UNKNOWN, Status.NOT_STORED);
            assertThat(answers.get(1005).join().status())
                    .as("a job whose topic was never reached")
                    .isEqualTo(Status.NOT_STORED);
            assertThat(topic.cancel("first").join().status()).isEqualTo(CancelResult.Status.UNKNOWN);
        }
    }

    @Test
    void shouldBlockOrFailWhenTheBufferIsFull() throws Exception {
        try (JobRouter blocking = router().bufferBytes(400_000)
                        .blockFor(Duration.ofMillis(200))
                        .connect();
                JobRouter failing =
                        router().bufferBytes(400_000).onFull(OnFull.FAIL).connect()) {
            blocking.topic("t").schedule(job("first")).join();
            failing.topic("t").schedule(job("first")).join();
            server.pause();
            List<CompletableFuture<BatchResult>> bulks = new ArrayList<>();
            for (JobRouter router : List.of(blocking, failing)) {
                TopicHandle<byte[]> topic = router.topic("t");
                List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>();
                CompletableFuture<ScheduleResult> last;
                long startedNs;
                do {
                    startedNs = System.nanoTime();
                    last = topic.schedule(JobSpec.of(new byte[50_000]).after(FAR));
                    answers.add(last);
                } while (!last.isCompletedExceptionally());
                Duration took = Duration.ofNanos(System.nanoTime() - startedNs);
                assertThat(took)
                        .isBetween(router == blocking ? Duration.ofMillis(200) : Duration.ZERO, Duration.ofSeconds(5));
                assertThat(answers).hasSize(8);
                assertThatThrownBy(last::join)
                        .hasCauseInstanceOf(RouterBufferFullException.class)
                        .hasMessageContainingAll(
                                "bufferBytes=400000",
                                "used 35",
                                "callers waiting",
                                router == blocking ? "blockFor=PT0.2S" : "onFull=FAIL");
                CompletableFuture<BatchResult> bulk = topic.scheduleAll(List.of(
                        JobSpec.of(new byte[10]).id("fits").after(FAR),
                        JobSpec.of(new byte[50_000]).id("no.room").after(FAR),
                        JobSpec.of(new byte[10]).id("behind").after(FAR)));
                bulks.add(bulk);
            }
            server.resume();
            for (CompletableFuture<BatchResult> bulk : bulks) {
                assertThat(bulk.join().results().get(0).accepted()).isTrue();
                assertThat(bulk.join().rejected())
                        .extracting(ScheduleResult::id)
                        .containsExactly("no.room", "behind");
                assertThat(bulk.join().rejected())
                        .allSatisfy(item -> assertThat(item.status()).isEqualTo(Status.NOT_STORED));
            }
        }
    }

    @Test
    void shouldLetABlockedCallerGoOnWhenThereIsRoom() throws Exception {
        try (JobRouter router = router().bufferBytes(400_000).connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("first")).join();
            server.pause();
            CompletableFuture<List<CompletableFuture<ScheduleResult>>> caller = CompletableFuture.supplyAsync(() -> {
                List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>();
                for (int i = 0; i < 30; i++) {
                    answers.add(topic.schedule(
                            JobSpec.of(new byte[50_000]).id("x" + i).after(FAR)));
                }
                return answers;
            });
            await("the buffer is full").until(() -> router.bufferedBytes() > 350_000);
            assertThat(caller).isNotDone();
            server.resume();
            assertThat(statuses(caller.get(30, TimeUnit.SECONDS))).isSubsetOf(Status.CREATED, Status.EXISTS);
        }
    }

    @Test
    void shouldEndInTimeWhenItIsClosedDuringAnOutage() {
        JobRouter router = router().deadline(SHORT).connect();
        TopicHandle<byte[]> topic = router.topic("t");
        topic.schedule(job("first")).join();
        server.pause();
        List<CompletableFuture<ScheduleResult>> answers = schedule(topic, "x", 3000);
        long startedNs = System.nanoTime();
        router.close();
        assertThat(Duration.ofNanos(System.nanoTime() - startedNs)).isLessThan(SHORT.plusSeconds(5));
        assertThat(answers).allSatisfy(answer -> assertThat(answer).isCompleted());
        assertThat(statuses(answers)).isEqualTo(EnumSet.of(Status.UNKNOWN, Status.NOT_STORED));
        server.resume();
    }

    @Test
    void shouldEndAtOnceWhenTheClosingThreadIsInterrupted() throws Exception {
        JobRouter router = router().deadline(Duration.ofSeconds(50)).connect();
        TopicHandle<byte[]> topic = router.topic("t");
        topic.schedule(job("first")).join();
        server.pause();
        List<CompletableFuture<ScheduleResult>> answers = schedule(topic, "x", 100);
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread closer = new Thread(() -> {
            router.close();
            flag.complete(Thread.currentThread().isInterrupted());
        });
        closer.start();
        await("it closes").until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        closer.interrupt();
        assertThat(flag.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(statuses(answers)).isSubsetOf(Status.UNKNOWN, Status.NOT_STORED);
        server.resume();
    }
}

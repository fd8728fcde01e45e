package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.router.ScheduleResult.Status;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every outcome of every call, against a real Redis and with a node played by hand. */
class ScheduleStatusIT {
    private static final TopicSettings SETTINGS = TopicSettings.defaults().withShards(4);
    private static final Duration FAR = Duration.ofMinutes(30);

    private final RedisOptions options = Redises.shared();
    private final Recorders telemetry = new Recorders();
    private JobRouter router;
    private TopicHandle<byte[]> topic;
    private PlayedNode node;

    @BeforeEach
    void connect() {
        router = JobRouter.builder()
                .redis(options)
                .declare("t", SETTINGS)
                .telemetry(telemetry)
                .connect();
        topic = router.topic("t");
        node = new PlayedNode(options, "t", SETTINGS);
    }

    @AfterEach
    void close() {
        assertThat(node.missing()).as("jobs that the ledgers miss").isZero();
        router.close();
        node.close();
    }

    private static JobSpec<byte[]> job(String id) {
        return JobSpec.of("payload".getBytes(StandardCharsets.UTF_8)).id(id);
    }

    private static JobSpec<byte[]> other(String id) {
        return JobSpec.of("other".getBytes(StandardCharsets.UTF_8)).id(id);
    }

    private void assertResult(JobSpec<byte[]> spec, Status status, JobState state) {
        ScheduleResult result = topic.schedule(spec).join();
        assertThat(result.status()).as("status of %s", result).isEqualTo(status);
        assertThat(result.state()).as("state of %s", result).isEqualTo(state);
        assertThat(result.id()).isEqualTo(spec.id());
    }

    private HandedJob running(String id) {
        topic.schedule(job(id)).join();
        return node.take(id);
    }

    private String payload(String id) {
        return new String(stored(id).payload(), StandardCharsets.UTF_8);
    }

    private Job stored(String id) {
        return topic.find(id).join().map(JobStatus::job).orElseThrow();
    }

    @Test
    void shouldCreateOnceAndSayExistsToTheSameRequestInEveryState() {
        assertResult(job("a").after(FAR), Status.CREATED, null);
        assertResult(job("a").after(FAR), Status.EXISTS, JobState.PENDING);
        topic.cancel("a").join();
        assertResult(job("a").after(FAR), Status.EXISTS, JobState.CANCELLED);

        HandedJob running = running("b");
        assertResult(job("b"), Status.EXISTS, JobState.IN_FLIGHT);
        node.finish(running);
        assertResult(job("b"), Status.EXISTS, JobState.DONE);

        node.bury(running("c"));
        assertResult(job("c"), Status.EXISTS, JobState.DEAD);
        assertThat(node.counter("accepted")).isEqualTo(3);
    }

    @Test
    void shouldSayConflictToAnotherRequestInEveryState() {
        assertResult(job("a").after(FAR), Status.CREATED, null);
        assertResult(job("a").after(FAR.plusMillis(1)), Status.CONFLICT, JobState.PENDING);
        assertResult(job("a").after(FAR).header("k", "v"), Status.CONFLICT, JobState.PENDING);
        topic.cancel("a").join();
        assertResult(other("a").after(FAR), Status.CONFLICT, JobState.CANCELLED);
        node.finish(running("b"));
        assertResult(other("b"), Status.CONFLICT, JobState.DONE);
        node.bury(running("c"));
        assertResult(other("c"), Status.CONFLICT, JobState.DEAD);
        assertThat(telemetry.counted(Counter.SCHEDULE_FAILED, "t")).isEqualTo(5);
        assertThat(telemetry.counted(Counter.SCHEDULED, "t")).isEqualTo(3);
    }

    @Test
    void shouldReplaceAJobThatWaitsInAnotherMinute() {
        assertResult(job("a").after(FAR), Status.CREATED, null);
        assertResult(other("a").after(FAR.plusMinutes(7)).replacing(), Status.REPLACED, JobState.PENDING);
        assertThat(payload("a")).isEqualTo("other");
        assertThat(node.pending()).isEqualTo(1);
        assertThat(stored("a").dueAt()).isAfter(Instant.now().plus(FAR).plusSeconds(300));
    }

    @Test
    void shouldReplaceByALaterCallWithTheSameDelayAndNotByTheSameInstant() {
        Instant at = Instant.now().plus(FAR);
        assertResult(job("a").at(at).replacing(), Status.CREATED, null);
        assertResult(job("a").at(at).replacing(), Status.EXISTS, JobState.PENDING);

        ScheduleResult first = topic.schedule(job("b").after(FAR).replacing()).join();
        await("the next millisecond")
                .until(() ->
                        topic.schedule(job("b").after(FAR).replacing()).join().status() == Status.REPLACED);
        assertThat(stored("b").dueAt().toEpochMilli()).isGreaterThan(first.dueAtMs());
    }

    @Test
    void shouldReplaceDeadAndEndedJobsButNotARunningOne() {
        node.bury(running("dead"));
        assertResult(other("dead").after(FAR).replacing(), Status.REPLACED, JobState.DEAD);
        node.finish(running("done"));
        assertResult(other("done").after(FAR).replacing(), Status.REPLACED, JobState.DONE);
        topic.schedule(job("cancelled").after(FAR)).join();
        topic.cancel("cancelled").join();
        assertResult(other("cancelled").after(FAR).replacing(), Status.REPLACED, JobState.CANCELLED);

        HandedJob running = running("running");
        assertResult(other("running").after(FAR).replacing(), Status.RUNNING, JobState.IN_FLIGHT);
        assertThat(payload("running")).isEqualTo("payload");
        node.finish(running);
    }

    @Test
    void shouldStoreReplacementsOfOneIdInTheOrderOfTheirCalls() {
        List<JobSpec<byte[]>> specs = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            specs.add(JobSpec.of(("version " + i).getBytes(StandardCharsets.UTF_8))
                    .id("a")
                    .after(FAR.plusMinutes(i % 3))
                    .replacing());
        }
        BatchResult result = topic.scheduleAll(specs).join();
        assertThat(result.results().get(0).status()).isEqualTo(Status.CREATED);
        assertThat(result.results().subList(1, 50))
                .allSatisfy(item -> assertThat(item.status()).isEqualTo(Status.REPLACED));
        assertThat(payload("a")).isEqualTo("version 49");
        assertThat(node.pending()).isEqualTo(1);
    }

    @Test
    void shouldForgetAnEndedJobWithoutRetention() {
        TopicSettings none = SETTINGS.withRetention(Duration.ZERO);
        RedisOptions own = Redises.shared();
        try (JobRouter forgetful =
                        JobRouter.builder().redis(own).declare("t", none).connect();
                PlayedNode worker = new PlayedNode(own, "t", none)) {
            TopicHandle<byte[]> handle = forgetful.topic("t");
            handle.schedule(job("a")).join();
            worker.finish(worker.take("a"));
            assertThat(handle.find("a").join()).isEmpty();
            assertThat(handle.schedule(job("a")).join().status()).isEqualTo(Status.CREATED);
            assertThat(handle.cancel("a").join().status()).isEqualTo(CancelResult.Status.CANCELLED);
            assertThat(handle.cancel("a").join().status()).isEqualTo(CancelResult.Status.NOT_FOUND);
        }
    }

    @Test
    void shouldKeepTheTombstoneForTheRetentionOfTheTopic() {
        topic.schedule(job("a").after(FAR)).join();
        topic.cancel("a").join();
        try (var redis = io.minutehand.redis.SharedRedis.get().connect()) {
            List<String> tombstones = redis.texts("KEYS", options.namespace() + ":*:end:a");
            assertThat(tombstones).hasSize(1);
            assertThat(redis.number("PTTL", tombstones.get(0))).isBetween(30_000L, 60_000L);
            redis.call("DEL", tombstones.get(0));
        }
        assertThat(topic.find("a").join()).isEmpty();
        assertResult(other("a").after(FAR), Status.CREATED, null);
    }

    @Test
    void shouldSayTheTruthAboutCancelAndReschedule() {
        assertThat(topic.cancel("none").join())
                .isEqualTo(new CancelResult("none", CancelResult.Status.NOT_FOUND, null));
        assertThat(topic.reschedule("none", FAR).join().status()).isEqualTo(RescheduleResult.Status.NOT_FOUND);

        HandedJob running = running("a");
        assertThat(topic.cancel("a").join().status()).isEqualTo(CancelResult.Status.RUNNING);
        assertThat(topic.reschedule("a", FAR).join().status()).isEqualTo(RescheduleResult.Status.RUNNING);
        node.finish(running);
        assertThat(topic.cancel("a").join()).isEqualTo(new CancelResult("a", CancelResult.Status.ENDED, JobState.DONE));
        assertThat(topic.reschedule("a", FAR).join())
                .isEqualTo(new RescheduleResult("a", RescheduleResult.Status.ENDED, JobState.DONE));
        node.bury(running("b"));
        assertThat(topic.cancel("b").join()).isEqualTo(new CancelResult("b", CancelResult.Status.ENDED, JobState.DEAD));
        assertThat(topic.find("b").join().orElseThrow().job().lastFailure()).isEqualTo("a test buries it");
    }

    @Test
    void shouldMoveAJobToATimeRoundedUpOrToNow() {
        topic.schedule(job("a").after(FAR)).join();
        Instant at = Instant.now().plusSeconds(600).truncatedTo(java.time.temporal.ChronoUnit.MILLIS);
        assertThat(topic.reschedule("a", at.plusNanos(1)).join().status()).isEqualTo(RescheduleResult.Status.MOVED);
        assertThat(stored("a").dueAt()).isEqualTo(at.plusMillis(1));
        assertThat(topic.reschedule("a", Duration.ofSeconds(-5)).join().status())
                .isEqualTo(RescheduleResult.Status.MOVED);
        node.finish(node.take("a"));
    }

    @Test
    void shouldFindWhatWasScheduledWithoutWaitingForItsAnswer() {
        for (int i = 0; i < 50; i++) {
            topic.schedule(job("a" + i).after(FAR));
            Optional<JobStatus> found = topic.find("a" + i).join();
            assertThat(found).isPresent();
            topic.schedule(job("b" + i).after(FAR));
            assertThat(topic.cancel("b" + i).join().status()).isEqualTo(CancelResult.Status.CANCELLED);
        }
        assertThat(node.pending()).isEqualTo(50);
    }

    @Test
    void shouldRefuseBadIdsBeforeAnythingIsSent() {
        assertThatThrownBy(() -> topic.cancel("a b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> topic.find("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> topic.reschedule("a", Instant.MAX)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> router.topic("Upper")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> router.schedule("{t:0}", job("a"))).isInstanceOf(IllegalArgumentException.class);
        assertThat(router.bufferedBytes()).isZero();
    }

    @Test
    void shouldRefuseABulkWithABadItemAsAWhole() {
        List<JobSpec<byte[]>> specs = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            specs.add(job("a" + i).after(FAR));
        }
        specs.add(JobSpec.of(new byte[300_000]).id("large"));
        assertThatThrownBy(() -> topic.scheduleAll(specs))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("item 600", "job large has 300000 bytes", "none of its items was sent");
        specs.set(600, null);
        assertThatThrownBy(() -> topic.scheduleAll(specs))
                .hasMessageContaining("item 600 of the collection: it is null");
        assertThat(topic.find("a0").join()).isEmpty();
        assertThat(topic.scheduleAll(List.of()).join().results()).isEmpty();
    }

    @Test
    void shouldSayStoreFullAtMaxmemoryAndStillCancel() {
        try (RedisServer full = RedisServer.start(
                        RedisSettings.defaults().with("maxmemory 20mb", "maxmemory-policy noeviction"));
                JobRouter own = Redises.router(full).connect()) {
            TopicHandle<byte[]> handle = own.topic("t");
            assertThat(handle.schedule(job("first").after(FAR)).join().status()).isEqualTo(Status.CREATED);
            List<JobSpec<byte[]>> specs = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                specs.add(JobSpec.of(new byte[256 * 1024]).id("large" + i).after(FAR));
            }
            BatchResult result = handle.scheduleAll(specs).join();
            assertThat(result.rejected())
                    .isNotEmpty()
                    .allSatisfy(item -> assertThat(item.status()).isEqualTo(Status.STORE_FULL));
            assertThat(result.accepted()).isBetween(20, 99);
            assertThat(handle.cancel("first").join().status()).isEqualTo(CancelResult.Status.CANCELLED);
            try (var redis = full.connect()) {
                redis.call("CONFIG", "SET", "maxmemory", "0");
            }
            List<JobSpec<byte[]>> again = new ArrayList<>();
            for (ScheduleResult item : result.rejected()) {
                again.add(JobSpec.of(new byte[256 * 1024]).id(item.id()).after(FAR));
            }
            assertThat(handle.scheduleAll(again).join().results())
                    .allSatisfy(item -> assertThat(item.status()).isEqualTo(Status.CREATED));
        }
    }
}

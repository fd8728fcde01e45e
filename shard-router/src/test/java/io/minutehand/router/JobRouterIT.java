package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The main road of a producer, against a real Redis. */
class JobRouterIT {
    record CloseOrder(long id, Instant since) {}

    private JobRouter router;
    private TopicHandle<CloseOrder> closing;

    @BeforeEach
    void connect() {
        router = JobRouter.builder()
                .redis(SharedRedis.get().uri())
                .namespace("road" + System.nanoTime())
                .connect();
        closing = router.topic("order.close", CloseOrder.class);
    }

    @AfterEach
    void close() {
        router.close();
    }

    private static JobSpec<CloseOrder> order(long id) {
        return JobSpec.of(new CloseOrder(id, Instant.EPOCH)).id("close:" + id).after(Duration.ofMinutes(30));
    }

    @Test
    void shouldScheduleFindMoveAndCancel() {
        ScheduleResult created =
                closing.schedule(order(1).businessId("b1").header("k", "v")).join();
        assertThat(created.status()).isEqualTo(Status.CREATED);
        JobStatus found = closing.find("close:1").join().orElseThrow();
        assertThat(found.state()).isEqualTo(JobState.PENDING);
        assertThat(found.job().dueAt().toEpochMilli()).isEqualTo(created.dueAtMs());
        assertThat(found.job().businessId()).isEqualTo("b1");
        assertThat(found.job().headers()).containsEntry("k", "v");
        assertThat(new String(found.job().payload(), java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("{\"id\":1,\"since\":\"1970-01-01T00:00:00Z\"}");

        Instant later = Instant.now().plusSeconds(7200);
        assertThat(closing.reschedule("close:1", later).join().status()).isEqualTo(RescheduleResult.Status.MOVED);
        assertThat(closing.cancel("close:1").join().status()).isEqualTo(CancelResult.Status.CANCELLED);
        assertThat(closing.cancel("close:1").join().status()).isEqualTo(CancelResult.Status.CANCELLED);
        assertThat(closing.cancel("close:2").join().status()).isEqualTo(CancelResult.Status.NOT_FOUND);
        assertThat(closing.reschedule("close:1", later).join())
                .isEqualTo(new RescheduleResult("close:1", RescheduleResult.Status.ENDED, JobState.CANCELLED));
        assertThat(closing.schedule(order(1).businessId("b1").header("k", "v")).join())
                .returns(Status.EXISTS, ScheduleResult::status)
                .returns(JobState.CANCELLED, ScheduleResult::state);
    }

    @Test
    void shouldNameTheArgumentThatIsMissing() {
        missing("topic", () -> router.topic(null));
        missing("type", () -> router.topic("orders", null));
        missing("topic", () -> router.schedule((String) null, order(1)));
        missing("spec", () -> router.schedule("orders", null));
        missing("spec", () -> closing.schedule(null));
        missing("specs", () -> closing.scheduleAll(null));
        missing("id", () -> closing.cancel(null));
        missing("id", () -> closing.find(null));
        missing("id", () -> closing.reschedule(null, Instant.EPOCH));
        missing("dueAt", () -> closing.reschedule("close:1", (Instant) null));
        missing("delay", () -> closing.reschedule("close:1", (Duration) null));
        missing("uri", () -> JobRouter.connect(null));
        assertThat(router.bufferedBytes()).as("held by calls that were refused").isZero();
    }

    private static void missing(String argument, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(argument);
    }

    @Test
    void shouldAnswerPerItemInOrder() {
        List<JobSpec<CloseOrder>> specs = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            specs.add(order(i));
        }
        specs.add(order(7));
        BatchResult result = closing.scheduleAll(specs).join();
        assertThat(result.accepted()).isEqualTo(1001);
        assertThat(result.results()).hasSize(1001);
        assertThat(result.results().get(17).id()).isEqualTo("close:17");
        assertThat(result.results().get(1000).status()).isEqualTo(Status.EXISTS);
    }
}

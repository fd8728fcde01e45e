package io.minutehand.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.ScheduleResult.Status;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.Dead;
import io.minutehand.worker.TopicOptions;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the README says of ids that are taken, and of dead letters. */
class ReadmeIT {
    private static final String ID = "close_order:10086";

    @RegisterExtension
    final MinutehandExtension minutehand = new MinutehandExtension();

    record CloseOrder(long id) {}

    @Test
    void shouldKeepTheIdOfACancelledJobUntilItIsReplaced() {
        try (JobRouter router = minutehand.router().connect()) {
            TopicHandle<CloseOrder> closing = router.topic("orders", CloseOrder.class);
            JobSpec<CloseOrder> spec = JobSpec.of(new CloseOrder(10086)).id(ID).after(Duration.ofMinutes(30));
            Instant at = Instant.now().plusSeconds(600);

            assertAnswer(closing, spec, Status.CREATED, null);
            assertAnswer(closing, spec, Status.EXISTS, JobState.PENDING);
            assertAnswer(closing, spec.after(Duration.ofMinutes(10)), Status.CONFLICT, JobState.PENDING);
            closing.cancel(ID).join();
            assertAnswer(closing, spec, Status.EXISTS, JobState.CANCELLED);
            assertAnswer(closing, spec.after(Duration.ofMinutes(10)), Status.CONFLICT, JobState.CANCELLED);
            assertAnswer(closing, spec.replacing(), Status.REPLACED, JobState.CANCELLED);
            assertAnswer(closing, spec.at(at).replacing(), Status.REPLACED, JobState.PENDING);
            assertAnswer(closing, spec.at(at).replacing(), Status.EXISTS, JobState.PENDING);
        }
    }

    @Test
    void shouldTellOfADeadLetterAndRunItAgain() {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        List<String> dead = new CopyOnWriteArrayList<>();
        try (JobRouter router = minutehand.router().connect();
                WorkerNode node = minutehand
                        .worker()
                        .handle(
                                "orders",
                                CloseOrder.class,
                                TopicOptions.defaults()
                                        .onDead((job, cause) -> dead.add(job.id() + " " + cause.getMessage())),
                                (order, job) -> {
                                    attempts.add(job.attempt());
                                    if (attempts.size() == 1) {
                                        throw Dead.because("no printer");
                                    }
                                })
                        .start()) {
            assertThat(node.ready()).isTrue();
            TopicHandle<CloseOrder> closing = router.topic("orders", CloseOrder.class);
            JobSpec<CloseOrder> spec = JobSpec.of(new CloseOrder(10086)).id(ID);
            closing.schedule(spec).join();
            minutehand.awaitIdle("orders", Duration.ofSeconds(10));

            Job job = closing.find(ID)
                    .join()
                    .filter(status -> status.state() == JobState.DEAD)
                    .map(JobStatus::job)
                    .orElseThrow();
            assertThat(job.lastFailure()).contains("no printer");
            assertThat(new String(job.payload(), java.nio.charset.StandardCharsets.UTF_8))
                    .isEqualTo("{\"id\":10086}");
            assertThat(dead).containsExactly(ID + " no printer");

            assertAnswer(closing, spec.replacing(), Status.REPLACED, JobState.DEAD);
            minutehand.awaitIdle("orders", Duration.ofSeconds(10));
            assertThat(attempts).containsExactly(1, 1);
        }
    }

    private static void assertAnswer(
            TopicHandle<CloseOrder> closing, JobSpec<CloseOrder> spec, Status status, JobState state) {
        assertThat(closing.schedule(spec).join())
                .returns(status, ScheduleResult::status)
                .returns(state, ScheduleResult::state);
    }
}

package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.write.JobForms;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a lane waits for more jobs. */
class LaneTest {
    private static final long MS = 1_000_000;
    private static final long SPAN = 1_000 * MS;

    private static final WaitingJob.Sink NOBODY = new WaitingJob.Sink() {
        @Override
        public void answered(int index, ScheduleResult result) {}

        @Override
        public void failed(int index, Throwable failure) {}
    };

    private final Callbacks callbacks = new Callbacks("test");
    private final JobForms forms = new JobForms(null, Limits.PAYLOAD_BYTES);
    private final Admission admission = new Admission(RouterSettings.defaults());
    private final Route route = new Route("t", callbacks);
    private final Lane lane = new Lane(new ShardId("t", 0), 0);
    private long nowNs;
    private int made;

    @AfterEach
    void end() {
        callbacks.close();
    }

    private void add(int jobs) {
        for (int i = 0; i < jobs; i++) {
            JobForms.Draft draft = forms.draft(JobSpec.of(new byte[10]).id("j" + made++));
            Arrival.Ticket ticket = new Arrival.Ticket(
                    route, draft.id(), 0, admission.admit("schedule", RouterSettings.heldBytes(draft)));
            WaitingJob job = new WaitingJob(ticket, draft, 0, NOBODY, 0);
            job.prepare(1_000_000_000);
            lane.add(job);
        }
    }

    /** Writes, each answered at once. */
    private void flow(int jobs, long everyNs, int writes) {
        for (int i = 0; i < writes; i++) {
            nowNs += everyNs;
            add(jobs);
            assertThat(lane.nextBatch(SPAN, nowNs)).hasSize(jobs);
            lane.writeEnded();
        }
    }

    @Test
    void shouldNotWaitWhenJobsComeSlowly() {
        flow(1, 5 * MS, 100);
        add(1);

        assertThat(lane.pauseNs(nowNs + 5 * MS)).isLessThanOrEqualTo(0);
    }

    @Test
    void shouldWaitElevenMillisecondsAtMostWhenManyFlow() {
        flow(5, MS, 200);
        add(1);

        assertThat(lane.pauseNs(nowNs)).isBetween(10 * MS, 11 * MS);
        assertThat(lane.pauseNs(nowNs + 11 * MS)).isLessThanOrEqualTo(0);
    }

    @Test
    void shouldNotWaitWithAFullBatchNorWithoutJobsNorDuringAWrite() {
        flow(5, MS, 200);
        assertThat(lane.pauseNs(nowNs)).as("nothing to send").isZero();

        add(Limits.BATCH_JOBS);
        assertThat(lane.pauseNs(nowNs)).as("a full batch").isZero();

        lane.nextBatch(SPAN, nowNs);
        add(1);
        assertThat(lane.pauseNs(nowNs)).as("a write is under way").isZero();
    }

    @Test
    void shouldSayWhetherTheLoopComesByUnasked() {
        assertThat(lane.attended()).isFalse();
        assertThat(lane.pausing(true)).isTrue();
        assertThat(lane.pausing(true)).as("it was so before").isFalse();
        assertThat(lane.attended()).isTrue();
        assertThat(lane.pausing(false)).isTrue();

        flow(1, MS, 1);
        assertThat(lane.attended()).isFalse();
        add(1);
        lane.nextBatch(SPAN, nowNs);
        assertThat(lane.attended()).isTrue();
    }
}

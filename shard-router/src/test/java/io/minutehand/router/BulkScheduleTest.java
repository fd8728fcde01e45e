package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.write.JobForms;
import io.minutehand.core.write.JobForms.Draft;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BulkScheduleTest {
    private final JobForms forms = new JobForms(null, Limits.PAYLOAD_BYTES);
    private final List<Draft> handed = Collections.synchronizedList(new ArrayList<>());

    private BulkSchedule bulk(OnFull onFull, Duration blockFor, int items) {
        RouterSettings defaults = RouterSettings.defaults();
        RouterSettings settings = new RouterSettings(
                defaults.bufferBytes(),
                onFull,
                blockFor,
                defaults.deadline(),
                defaults.payloadBytes(),
                true,
                defaults.durability());
        List<JobSpec<byte[]>> specs = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            specs.add(JobSpec.of(new byte[1]).id("j" + i));
        }
        BulkSchedule bulk = new BulkSchedule(settings, forms, specs, TraceContext.NONE);
        bulk.check();
        return bulk;
    }

    private void take(Draft draft, BulkSchedule bulk, int index) {
        assertThat(draft.id()).isEqualTo("j" + index);
        handed.add(draft);
    }

    private static ScheduleResult created(int index) {
        return new ScheduleResult("j" + index, Status.CREATED, null, 0);
    }

    @Test
    void shouldHandOnlySoManyItemsOverThatHaveNoAnswer() throws Exception {
        BulkSchedule bulk = bulk(OnFull.BLOCK, Duration.ofSeconds(20), 10_000);
        CompletableFuture<Void> caller = CompletableFuture.runAsync(() -> bulk.handOver(this::take));
        await("the window is full").until(() -> handed.size() == 8192);
        for (int i = 0; i < 1023; i++) {
            bulk.answered(i, created(i));
        }
        assertThat(handed).hasSize(8192);
        bulk.answered(1023, created(1023));
        await("the window moves").until(() -> handed.size() == 8192 + 1024);
        for (int i = 1024; i < 10_000; i++) {
            bulk.answered(i, created(i));
        }
        caller.get(30, TimeUnit.SECONDS);
        assertThat(bulk.future().join().accepted()).isEqualTo(10_000);
        assertThat(bulk.future().join().results().get(9999).id()).isEqualTo("j9999");
    }

    @Test
    void shouldGiveTheRestUpWhenNoAnswersCome() {
        BulkSchedule bulk = bulk(OnFull.BLOCK, Duration.ofMillis(20), 8200);
        bulk.handOver(this::take);
        assertThat(handed).hasSize(8192);
        for (int i = 0; i < 8192; i++) {
            bulk.answered(i, created(i));
        }
        BatchResult result = bulk.future().join();
        assertThat(result.rejected()).hasSize(8).allSatisfy(item -> {
            assertThat(item.status()).isEqualTo(Status.NOT_STORED);
            assertThat(item.dueAtMs()).isPositive();
        });
        assertThat(result.rejected().get(0).id()).isEqualTo("j8192");
    }

    @Test
    void shouldNotBlockACallerThatMustNot() {
        BulkSchedule bulk = bulk(OnFull.FAIL, Duration.ZERO, 9000);
        bulk.handOver(this::take);
        assertThat(handed).hasSize(9000);
    }

    @Test
    void shouldFailOnceAllItemsHaveTheirAnswer() {
        BulkSchedule bulk = bulk(OnFull.BLOCK, Duration.ZERO, 2);
        bulk.handOver(this::take);
        bulk.failed(0, new IllegalStateException("a test refuses this"));
        assertThat(bulk.future()).isNotDone();
        bulk.answered(1, created(1));
        assertThatThrownBy(() -> bulk.future().get(1, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("a test refuses this");
    }

    @Test
    void shouldNotLeaveACallerWaitingForItemsThatHaveGone() {
        List<JobSpec<byte[]>> specs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            specs.add(JobSpec.of(new byte[1]).id("j" + i));
        }
        BulkSchedule bulk = new BulkSchedule(RouterSettings.defaults(), forms, specs, TraceContext.NONE);
        bulk.check();
        specs.remove(2);

        assertThatThrownBy(() -> bulk.handOver(this::take))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("shrank while it was read, from 3 to 2");
    }
}

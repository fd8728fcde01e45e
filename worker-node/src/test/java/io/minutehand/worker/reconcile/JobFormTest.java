package io.minutehand.worker.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.JobRecord;
import io.minutehand.core.store.NewJob;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobFormTest {
    private static final long NOW_US = 1_700_000_000_000_123L;
    private static final long NOW_MS = NOW_US / 1000;

    private final JobForm form = new JobForm(null);

    record CloseOrder(long id, Instant since) {}

    @Test
    void shouldStoreTheVeryRequestThatARouterStores() {
        JobSpec<CloseOrder> spec = JobSpec.of(new CloseOrder(7, Instant.EPOCH))
                .id("close:7")
                .businessId("7")
                .header("a", "b")
                .at(Instant.ofEpochMilli(NOW_MS + 5));
        byte[] payload = "{\"id\":7,\"since\":\"1970-01-01T00:00:00Z\"}".getBytes(StandardCharsets.UTF_8);

        NewJob job = form.of(spec, NOW_US);

        assertThat(job.id()).isEqualTo("close:7");
        assertThat(job.dueMs()).isEqualTo(NOW_MS + 5);
        assertThat(job.replace()).isFalse();
        assertThat(job.body()).isEqualTo(JobRecord.encodeBody("7", Map.of("a", "b"), payload));
        assertThat(job.digest()).isEqualTo(JobRecord.digest("7", Map.of("a", "b"), payload, "at:" + (NOW_MS + 5)));
    }

    @Test
    void shouldMeanNowByWhatIsPastAndRoundUpWhatIsFiner() {
        JobSpec<byte[]> spec = JobSpec.of(new byte[0]).id("a");

        assertThat(form.of(spec, NOW_US).dueMs()).isEqualTo(NOW_MS);
        assertThat(form.of(spec.at(Instant.EPOCH), NOW_US).dueMs()).isEqualTo(NOW_MS);
        assertThat(form.of(spec.at(Instant.MIN), NOW_US).dueMs()).isEqualTo(NOW_MS);
        assertThat(form.of(spec.at(Instant.ofEpochMilli(NOW_MS + 5).plusNanos(1)), NOW_US)
                        .dueMs())
                .isEqualTo(NOW_MS + 6);
        assertThat(form.of(spec.after(Duration.ofSeconds(-1)), NOW_US).dueMs()).isEqualTo(NOW_MS);
        assertThat(form.of(spec.after(Duration.ofNanos(1)), NOW_US).dueMs()).isEqualTo(NOW_MS + 2);
        assertThat(form.of(spec.after(Duration.ofMillis(1)), NOW_US).dueMs()).isEqualTo(NOW_MS + 2);
    }

    @Test
    void shouldRefuseWhatWouldNotBeOneJobForEachRow() {
        refuses(JobSpec.of("x"), "no id");
        refuses(JobSpec.of("x").id("a").replacing(), "job a is replacing()");
        refuses(JobSpec.of("x").id("a").at(Instant.now().plus(Duration.ofDays(4000))), "days ahead");
        refuses(JobSpec.of("x").id("a").after(Duration.ofDays(4000)), "longer than");
        refuses(JobSpec.of(new byte[Limits.PAYLOAD_BYTES + 1]).id("a"), "of job a has 262145 bytes");
        refuses(JobSpec.of(new Object()).id("a"), "cannot be written as JSON");
        assertThat(form.of(JobSpec.of(new byte[Limits.PAYLOAD_BYTES]).id("a"), NOW_US)
                        .body())
                .hasSizeGreaterThan(Limits.PAYLOAD_BYTES);
    }

    private void refuses(JobSpec<?> spec, String message) {
        assertThatThrownBy(() -> form.of(spec, NOW_US))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}

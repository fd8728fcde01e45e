package io.minutehand.core.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.write.JobForms.Draft;
import io.minutehand.core.write.JobForms.When;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is refused before anything is sent, and what is fixed before the first send. */
class JobFormsTest {
    private static final long CALLED_US = 1_700_000_000_123_456L;

    private final JobForms forms = new JobForms(null, Limits.PAYLOAD_BYTES);

    record Order(long orderId, Instant since) {}

    record Ring(Object next) {
        @Override
        public String toString() {
            return "ring";
        }
    }

    private static JobSpec<byte[]> bytes(String payload) {
        return JobSpec.of(payload.getBytes(StandardCharsets.UTF_8));
    }

    static List<Arguments> badInput() {
        Instant farOff = Instant.now().plus(Limits.HORIZON).plusSeconds(60);
        return List.of(
                bad(() -> bytes("").at(farOff), "due time", "3653 days"),
                bad(() -> bytes("").at(Instant.MAX), "due time", "3653 days"),
                bad(() -> bytes("").after(Limits.HORIZON.plusMillis(1)), "delay PT87672H0.001S", "PT87672H"),
                bad(() -> bytes("").after(Duration.ofSeconds(Long.MAX_VALUE)), "delay", "PT87672H"),
                bad(() -> JobSpec.of(new byte[Limits.PAYLOAD_BYTES + 1]), "262145 bytes", "payloadBytes=262144"),
                bad(() -> JobSpec.of(new byte[Limits.PAYLOAD_BYTES + 1]).id("j1"), "of job j1 has 262145"),
                bad(() -> JobSpec.of("x".repeat(Limits.PAYLOAD_BYTES)), "262146 bytes", "payloadBytes=262144"),
                bad(() -> JobSpec.of(new Object()).id("j2"), "java.lang.Object of job j2 cannot be written as JSON"),
                bad(JobFormsTest::endless, "Ring", "cannot be written as JSON"),
                bad(() -> bytes("").id(""), "0 characters", "1 to 128"),
                bad(() -> bytes("").id("a b"), "\" \" at position 1"),
                bad(() -> bytes("").id("x".repeat(129)), "129 characters", "1 to 128"),
                bad(() -> bytes("").businessId("x".repeat(257)), "257 characters", "256"),
                bad(() -> bytes("").header("name", "x".repeat(16 * 1024)), "16388 bytes", "16384"));
    }

    private static Arguments bad(Supplier<JobSpec<?>> spec, String... said) {
        return Arguments.of(spec, said);
    }

    private static JobSpec<?> endless() {
        Object[] inner = new Object[1];
        Ring ring = new Ring(inner);
        inner[0] = ring;
        return JobSpec.of(ring);
    }

    @ParameterizedTest
    @MethodSource("badInput")
    void shouldNameValueAndLimitOfBadInput(Supplier<JobSpec<?>> spec, String... said) {
        assertThatThrownBy(() -> forms.draft(spec.get()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(said);
        assertThatThrownBy(() -> forms.check(spec.get())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTakeWhatIsJustWithinTheLimits() {
        forms.draft(JobSpec.of(new byte[Limits.PAYLOAD_BYTES]).id("x".repeat(128)));
        forms.draft(JobSpec.of(new byte[0]).after(Limits.HORIZON));
        forms.draft(JobSpec.of(new byte[0]).at(Instant.now().plus(Limits.HORIZON)));
        forms.draft(JobSpec.of(new byte[0]).at(Instant.MIN));
        forms.draft(JobSpec.of(new byte[0]).after(Duration.ofSeconds(Long.MIN_VALUE)));
    }

    @Test
    void shouldRoundDueTimesUpToMilliseconds() {
        assertThat(When.at(Instant.ofEpochSecond(1_800_000_000, 1)).dueMs(CALLED_US))
                .isEqualTo(1_800_000_000_001L);
        assertThat(When.at(Instant.ofEpochSecond(1_800_000_000, 0)).dueMs(CALLED_US))
                .isEqualTo(1_800_000_000_000L);
        assertThat(When.after(Duration.ofNanos(1)).dueMs(CALLED_US)).isEqualTo(1_700_000_000_125L);
        assertThat(When.after(Duration.ofMillis(50)).dueMs(CALLED_US)).isEqualTo(1_700_000_000_174L);
        assertThat(When.after(Duration.ofMillis(50)).dueMs(1_000_000)).isEqualTo(1050);
    }

    @Test
    void shouldMakeThePastNow() {
        long now = 1_700_000_000_123L;
        assertThat(When.NOW.dueMs(CALLED_US)).isEqualTo(now);
        assertThat(When.at(Instant.MIN).dueMs(CALLED_US)).isEqualTo(now);
        assertThat(When.at(Instant.ofEpochMilli(now - 1)).dueMs(CALLED_US)).isEqualTo(now);
        assertThat(When.after(Duration.ofSeconds(-5)).dueMs(CALLED_US)).isEqualTo(now);
        assertThat(When.after(Duration.ZERO).dueMs(CALLED_US)).isEqualTo(now);
    }

    @Test
    void shouldKeepOneIdForADraftAndMakeAnotherForTheNext() {
        Draft draft = forms.draft(bytes("a"));
        assertThat(draft.toJob(CALLED_US).id()).isEqualTo(draft.id()).hasSize(32);
        assertThat(forms.draft(bytes("a")).id()).isNotEqualTo(draft.id());
    }

    @Test
    void shouldTellRequestsApartByWhatTheCallerGave() {
        JobSpec<byte[]> spec =
                bytes("a").id("x").businessId("b").header("h", "1").after(Duration.ofSeconds(60));
        byte[] digest = job(spec, CALLED_US).digest();
        assertThat(job(spec, CALLED_US + 5_000_000).digest()).isEqualTo(digest);
        assertThat(job(spec.after(Duration.ofSeconds(61)), CALLED_US).digest()).isNotEqualTo(digest);
        assertThat(job(spec.at(Instant.ofEpochMilli(1_700_000_060_124L)), CALLED_US)
                        .digest())
                .isNotEqualTo(digest);
        assertThat(job(spec.header("h", "2"), CALLED_US).digest()).isNotEqualTo(digest);
        assertThat(job(spec.businessId("c"), CALLED_US).digest()).isNotEqualTo(digest);
        assertThat(job(bytes("b").id("x").businessId("b").header("h", "1").after(Duration.ofSeconds(60)), CALLED_US)
                        .digest())
                .isNotEqualTo(digest);
    }

    @Test
    void shouldTellReplacingRequestsApartByTheirDueTime() {
        for (JobSpec<byte[]> spec : List.of(
                bytes("a").id("x").after(Duration.ofSeconds(60)).replacing(),
                bytes("a").id("x").replacing())) {
            byte[] digest = job(spec, CALLED_US).digest();
            assertThat(job(spec, CALLED_US).digest()).isEqualTo(digest);
            assertThat(job(spec, CALLED_US + 1000).digest()).isNotEqualTo(digest);
        }
        JobSpec<byte[]> at =
                bytes("a").id("x").at(Instant.ofEpochSecond(1_800_000_000)).replacing();
        assertThat(job(at, CALLED_US + 1000).digest())
                .isEqualTo(job(at, CALLED_US).digest());
    }

    @Test
    void shouldMakeTheSameJobAfterTheCallerHasItsBytesBack() {
        byte[] payload = "payload".getBytes(StandardCharsets.UTF_8);
        JobSpec<byte[]> spec = JobSpec.of(payload).id("x").header("h", "v");
        byte[] digest = job(spec, CALLED_US).digest();
        Draft late = forms.draft(spec).withoutPayload();
        Arrays.fill(payload, (byte) 0);
        assertThat(late.toJob(CALLED_US).digest()).isEqualTo(digest);
    }

    @Test
    void shouldWriteJavaTimeByDefaultAndFollowTheCallersMapper() {
        Order order = new Order(7, Instant.EPOCH);
        assertThat(payloadOf(forms, order)).isEqualTo("{\"orderId\":7,\"since\":\"1970-01-01T00:00:00Z\"}");
        JobForms snake = new JobForms(
                JsonMapper.builder()
                        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                        .build(),
                1000);
        assertThat(payloadOf(snake, List.of(1, 2))).isEqualTo("[1,2]");
        assertThat(payloadOf(snake, new Pair(1, 2))).isEqualTo("{\"left_side\":1,\"right_side\":2}");
    }

    record Pair(int leftSide, int rightSide) {}

    private static String payloadOf(JobForms forms, Object payload) {
        return new String(forms.draft(JobSpec.of(payload)).payload(), StandardCharsets.UTF_8);
    }

    private NewJob job(JobSpec<?> spec, long calledUs) {
        return forms.draft(spec).toJob(calledUs);
    }
}

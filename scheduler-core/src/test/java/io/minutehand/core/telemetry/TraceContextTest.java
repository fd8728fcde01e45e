package io.minutehand.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
    private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    @Test
    void shouldReadHeadersInAnyCase() {
        assertThat(TraceContext.of(Map.of("TraceParent", PARENT, "tracestate", "a=b")))
                .isEqualTo(new TraceContext(PARENT, "a=b"));
        assertThat(TraceContext.of(Map.of("traceparent", PARENT)).headers()).isEqualTo(Map.of("traceparent", PARENT));
        assertThat(TraceContext.of(Map.of())).isSameAs(TraceContext.NONE);
        assertThat(TraceContext.NONE.headers()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nx-evil: 1",
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
            })
    void shouldTakeWhatIsNoContextForNone(String parent) {
        assertThat(TraceContext.of(Map.of("traceparent", parent, "tracestate", "a=b")))
                .isSameAs(TraceContext.NONE);
    }

    @Test
    void shouldDropAStateThatCannotBeAHeader() {
        assertThat(TraceContext.of(Map.of("traceparent", PARENT, "tracestate", "a=\n"))
                        .state())
                .isEmpty();
        assertThat(TraceContext.of(Map.of("traceparent", PARENT, "tracestate", "a".repeat(513)))
                        .state())
                .isEmpty();
    }

    @Test
    void shouldLeaveAJobAsItIsThatHasNoRoom() {
        JobSpec<String> full = JobSpec.of("x");
        for (int i = 0; i < Limits.HEADERS - 1; i++) {
            full = full.header("h" + i, "v");
        }
        JobSpec<String> traced = new TraceContext(PARENT, "").into(full);
        assertThat(traced.headers()).hasSize(Limits.HEADERS).containsEntry("traceparent", PARENT);
        assertThat(new TraceContext(PARENT, "a=b").into(full)).isSameAs(full);
    }
}

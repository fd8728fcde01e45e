package io.minutehand.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobSpecTest {
    @Test
    void shouldKeepWhatWasAskedForAndNothingElse() {
        JobSpec<String> plain = JobSpec.of("payload");
        Instant at = Instant.ofEpochSecond(5);

        JobSpec<String> full =
                plain.id("a").businessId("order 7").header("x", "y").at(at).replacing();

        assertThat(plain.payload()).isEqualTo("payload");
        assertThat(plain.id()).isNull();
        assertThat(plain.businessId()).isNull();
        assertThat(plain.headers()).isEmpty();
        assertThat(plain.dueAt()).isNull();
        assertThat(plain.delay()).isNull();
        assertThat(plain.isReplacing()).isFalse();
        assertThat(full.payload()).isEqualTo("payload");
        assertThat(full.id()).isEqualTo("a");
        assertThat(full.businessId()).isEqualTo("order 7");
        assertThat(full.headers()).isEqualTo(Map.of("x", "y"));
        assertThat(full.dueAt()).isEqualTo(at);
        assertThat(full.isReplacing()).isTrue();
    }

    @Test
    void shouldHaveOneTimeTheLastGiven() {
        JobSpec<String> spec = JobSpec.of("p").at(Instant.EPOCH).after(Duration.ofSeconds(1));

        assertThat(spec.dueAt()).isNull();
        assertThat(spec.delay()).isEqualTo(Duration.ofSeconds(1));
        assertThat(spec.at(Instant.EPOCH).delay()).isNull();
    }

    @Test
    void shouldRefuseNulls() {
        assertThatThrownBy(() -> JobSpec.of(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("payload");
        assertThatThrownBy(() -> JobSpec.of("p").id(null)).hasMessage("id");
        assertThatThrownBy(() -> JobSpec.of("p").businessId(null)).hasMessage("businessId");
        assertThatThrownBy(() -> JobSpec.of("p").header(null, "v")).hasMessage("name");
        assertThatThrownBy(() -> JobSpec.of("p").header("n", null)).hasMessage("value");
        assertThatThrownBy(() -> JobSpec.of("p").at(null)).hasMessage("dueAt");
        assertThatThrownBy(() -> JobSpec.of("p").after(null)).hasMessage("delay");
    }

    @Test
    void shouldRefuseBadIds() {
        assertThatThrownBy(() -> JobSpec.of("p").id("a b")).isInstanceOf(IllegalArgumentException.class);
        assertThat(JobSpec.of("p").businessId("\u00e4 anything\n".repeat(20)).businessId())
                .hasSize(220);
        assertThat(JobSpec.of("p").businessId("x".repeat(256)).businessId()).hasSize(256);
        assertThatThrownBy(() -> JobSpec.of("p").businessId("x".repeat(257)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("257")
                .hasMessageContaining("256");
    }

    @Test
    void shouldRefuseTooManyOrTooLargeHeaders() {
        JobSpec<String> spec = JobSpec.of("p");
        for (int i = 0; i < Limits.HEADERS; i++) {
            spec = spec.header("name-" + i, "v");
        }
        JobSpec<String> most = spec;
        assertThat(most.header("name-0", "other").headers()).as("another value").hasSize(Limits.HEADERS);
        assertThatThrownBy(() -> most.header("one-more", "v"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("65")
                .hasMessageContaining("64");
        JobSpec<String> largest = JobSpec.of("p").header("n", "\u00e4".repeat((Limits.HEADER_BYTES - 1) / 2));
        assertThat(largest.header("", "1").headers()).hasSize(2);
        assertThatThrownBy(() -> largest.header("m", "1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(Limits.HEADER_BYTES + 1))
                .hasMessageContaining(String.valueOf(Limits.HEADER_BYTES));
    }

    @Test
    void shouldNotLetHeadersBeChanged() {
        Map<String, String> headers = JobSpec.of("p").header("a", "b").headers();

        assertThatThrownBy(() -> headers.put("c", "d")).isInstanceOf(UnsupportedOperationException.class);
    }
}

package io.minutehand.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JobTest {
    @Test
    void shouldPrintAStrangersTextInOneLineThatForgesNothing() {
        String printed =
                about("7\n2026-01-01 ERROR \u001b[31m\u2028 \" state=DEAD").toString();

        assertThat(printed)
                .contains("business_id=\"7\\u000a2026-01-01 ERROR \\u001b[31m\\u2028 \\\" state=DEAD\" state=PENDING")
                .doesNotContainPattern("\\p{Cntrl}|\u2028");
    }

    @Test
    void shouldTellNoBusinessIdFromOneThatSaysSo() {
        assertThat(about(null).toString()).contains("business_id=none ");
        assertThat(about("none").toString()).contains("business_id=\"none\" ");
    }

    @Test
    void shouldPrintNoPayload() {
        assertThat(about("7").toString()).endsWith("payload=6 bytes]").doesNotContain("secret");
    }

    private static Job about(@Nullable String businessId) {
        return new Job(
                "orders",
                "a",
                businessId,
                Map.of(),
                "secret".getBytes(java.nio.charset.StandardCharsets.UTF_8),
                JobState.PENDING,
                1,
                0,
                Instant.EPOCH,
                Instant.EPOCH,
                null);
    }
}

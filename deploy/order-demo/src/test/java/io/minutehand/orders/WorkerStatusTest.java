package io.minutehand.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WorkerStatusTest {
    @Test
    void shouldReadWhatItWrites() {
        WorkerStatus status = new WorkerStatus(3, 2, 1_000_000_000_000L, 5, true);

        assertThat(WorkerStatus.ofLine(status.toLine())).isEqualTo(status);
        assertThat(WorkerStatus.ofLine("OpenJDK 64-Bit Server VM warning: something"))
                .isNull();
    }

    @Test
    void shouldGiveWorkersTheSettingsOfTheService() {
        OrderSettings settings = new OrderSettings(
                "redis://:secret@h:1",
                "ns",
                "jdbc:postgresql://h/d?password=word",
                Duration.ofMillis(1500),
                Duration.ofSeconds(5));

        assertThat(OrderSettings.fromEnvironment(settings.toEnvironment())).isEqualTo(settings);
        assertThat(settings.lookAhead()).isGreaterThan(settings.delay().plus(settings.scan()));
        assertThat(settings.toString()).doesNotContain("secret", "word");
    }
}

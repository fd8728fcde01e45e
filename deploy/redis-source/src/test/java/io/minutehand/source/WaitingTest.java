package io.minutehand.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WaitingTest {

    @Test
    void shouldLookUntilTheConditionHolds() {
        AtomicInteger looks = new AtomicInteger();
        Waiting.until(
                "the third look",
                Duration.ofSeconds(10),
                () -> {
                    if (looks.incrementAndGet() == 2) {
                        throw new IllegalStateException("not ready");
                    }
                    return looks.get() == 3;
                },
                () -> "");
        assertThat(looks).hasValue(3);
    }

    @Test
    void shouldSayWhatWasAwaitedAndWhatWasSeen() {
        assertThatThrownBy(() -> Waiting.until("rain", Duration.ZERO, () -> false, () -> "the sky is blue"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rain")
                .hasMessageContaining("the sky is blue");
    }

    @Test
    void shouldEndAtOnceWhenTheConditionGivesUp() {
        assertThatThrownBy(() -> Waiting.until(
                        "rain",
                        Duration.ofDays(1),
                        () -> {
                            throw new Waiting.GaveUp("no clouds left");
                        },
                        () -> ""))
                .hasMessage("no clouds left");
    }

    @Test
    void shouldEndWhenInterrupted() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Waiting.until("rain", Duration.ofDays(1), () -> false, () -> ""))
                .hasMessageContaining("Interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }
}

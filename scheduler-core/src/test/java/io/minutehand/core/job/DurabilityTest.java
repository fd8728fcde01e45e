package io.minutehand.core.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DurabilityTest {
    @Test
    void shouldNameWhatIsOutOfRange() {
        assertThat(Durability.MEMORY.replicas()).isZero();
        assertThat(Durability.replicas(2, Duration.ofMillis(50))).isEqualTo(new Durability(2, Duration.ofMillis(50)));
        assertThatThrownBy(() -> Durability.replicas(0, Duration.ofSeconds(1))).hasMessageContaining("replicas=0");
        assertThatThrownBy(() -> Durability.replicas(17, Duration.ofSeconds(1))).hasMessageContaining("replicas=17");
        assertThatThrownBy(() -> Durability.replicas(1, Duration.ZERO)).hasMessageContaining("within=PT0S");
        assertThatThrownBy(() -> Durability.replicas(1, Duration.ofMinutes(1))).hasMessageContaining("within=PT1M");
    }
}

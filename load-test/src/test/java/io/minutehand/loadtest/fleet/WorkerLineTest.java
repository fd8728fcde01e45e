package io.minutehand.loadtest.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerLineTest {
    @Test
    void shouldReadWhatItWrites() {
        WorkerLine.Status status = new WorkerLine.Status("4711", 12, 3, Map.of("ready", 1L, "stale", 0L));

        assertThat(WorkerLine.status(WorkerLine.status(status))).isEqualTo(status);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "status",
                "status node= held=1 running=2",
                "status node=1 held=x running=2",
                "OpenJDK warning"
            })
    void shouldLeaveOtherLinesAlone(String line) {
        assertThat(WorkerLine.status(line)).isNull();
    }
}

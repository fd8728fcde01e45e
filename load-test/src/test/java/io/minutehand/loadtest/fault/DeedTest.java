package io.minutehand.loadtest.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeedTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(names = "GARBAGE", mode = EnumSource.Mode.EXCLUDE)
    void shouldReadWhatItWrites(Deed.Kind kind) {
        assertThat(Deed.of(new Deed(kind, 12).payload())).isEqualTo(new Deed(kind, 12));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "work", "work:x:", "fly:1:"})
    void shouldRefuseWhatItDoesNotKnow(String payload) {
        assertThatThrownBy(() -> Deed.of(payload.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(RuntimeException.class);
    }

    @Test
    void shouldRefuseGarbage() {
        assertThatThrownBy(() -> Deed.of(new Deed(Deed.Kind.GARBAGE, 1).payload()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldHoldAWorkerWhereItsBarrierFileSays() {
        HoldPoint.HANDLER.hold(directory, "node-1");

        assertThat(HoldPoint.of(directory, "node-1")).isEqualTo(HoldPoint.HANDLER);
        assertThat(HoldPoint.of(directory, "node-2")).isNull();
        HoldPoint.release(directory, "node-1");
        assertThat(HoldPoint.of(directory, "node-1")).isNull();
    }

    @Test
    void shouldCarryTheSettingsOfARunOver() throws Exception {
        RunSettings settings = RunSettings.fullForm().withProxies().withRedisConfig("maxmemory 1mb\n");
        settings.write(directory);

        assertThat(RunSettings.read(directory)).isEqualTo(settings);
    }
}

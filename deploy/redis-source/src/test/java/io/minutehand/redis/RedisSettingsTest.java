package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RedisSettingsTest {

    @Test
    void shouldBecomeLinesWithTheExtraOnesLast() {
        assertThat(RedisSettings.defaults().toConfig("pw"))
                .containsExactly("requirepass pw", "masterauth pw", "save \"\"", "appendonly no");
        assertThat(RedisSettings.defaults()
                        .with("maxmemory 1mb")
                        .withAppendOnly()
                        .withDebugCommand()
                        .with("hz 100")
                        .toConfig("pw"))
                .containsExactly(
                        "requirepass pw",
                        "masterauth pw",
                        "save \"\"",
                        "appendonly yes",
                        "enable-debug-command local",
                        "maxmemory 1mb",
                        "hz 100");
    }

    @Test
    void shouldRefuseWhatWouldBecomeAnotherSetting() {
        RedisSettings settings = RedisSettings.defaults();
        assertThatThrownBy(() -> settings.with("hz 10\nbind *")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> settings.withPassword("a b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("a b");
    }
}

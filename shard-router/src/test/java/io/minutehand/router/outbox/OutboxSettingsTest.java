package io.minutehand.router.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxSettingsTest {
    @ParameterizedTest
    @ValueSource(strings = {"jobs", "_j2", "shop.jobs", "minutehand_outbox"})
    void shouldTakeNamesThatNeedNoQuotes(String table) {
        assertThat(OutboxSettings.defaults().withTable(table).table()).isEqualTo(table);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Jobs",
                "2jobs",
                "a.b.c",
                ".jobs",
                "jobs; DROP TABLE orders",
                "jobs\n",
                "\"jobs\"",
                "a23456789012345678901234567890123456789012345678901"
            })
    void shouldRefuseOtherNamesOfTables(String table) {
        assertThatThrownBy(() -> OutboxSettings.defaults().withTable(table))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("table=" + table);
    }

    @Test
    void shouldNameWhatIsOutOfRange() {
        OutboxSettings settings = OutboxSettings.defaults();
        assertThatThrownBy(() -> settings.withPageRows(0)).hasMessage("pageRows=0, allowed are 1 to 1000");
        assertThatThrownBy(() -> settings.withPageRows(1001)).hasMessageContaining("pageRows=1001");
        assertThatThrownBy(() -> settings.withRowsPerSecond(0)).hasMessageContaining("rowsPerSecond=0");
        assertThatThrownBy(() -> settings.withDirectJobs(-1)).hasMessageContaining("directJobs=-1");
        assertThatThrownBy(() -> settings.withPeriod(Duration.ZERO)).hasMessageContaining("period=PT0S");
        assertThatThrownBy(() -> settings.withLongestBackOff(Duration.ofMillis(999)))
                .hasMessage("longestBackOff=PT0.999S, allowed are PT1S to PT1H");
    }
}

package io.minutehand.worker.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class ReconcilerSettingsTest {
    private final ReconcilerSettings defaults = ReconcilerSettings.defaults();

    @Test
    void shouldChangeOneSettingAtATime() {
        ReconcilerSettings changed = defaults.withPeriod(Duration.ofSeconds(2))
                .withLookAhead(Duration.ZERO)
                .withPageSize(3)
                .withRowsPerSecond(4)
                .withFetchSize(5)
                .withQueryTimeout(Duration.ofSeconds(6))
                .withLease(Duration.ofSeconds(7))
                .withDryRun(true);

        assertThat(changed)
                .isEqualTo(new ReconcilerSettings(
                        Duration.ofSeconds(2),
                        Duration.ZERO,
                        3,
                        4,
                        5,
                        Duration.ofSeconds(6),
                        Duration.ofSeconds(7),
                        true));
    }

    @Test
    void shouldKeepAPageWithinASecondsRows() {
        assertThat(defaults.rowsOfAPage()).isEqualTo(defaults.pageSize());
        assertThat(defaults.withRowsPerSecond(7).rowsOfAPage()).isEqualTo(7);
    }

    @Test
    void shouldRefuseWhatIsOutOfItsRangeByName() {
        refuses("period=PT0.099S", settings -> settings.withPeriod(Duration.ofMillis(99)));
        refuses(
                "period=PT24H0.001S",
                settings -> settings.withPeriod(Duration.ofDays(1).plusMillis(1)));
        refuses("lookAhead=PT-0.001S", settings -> settings.withLookAhead(Duration.ofMillis(-1)));
        refuses("lookAhead=", settings -> settings.withLookAhead(Duration.ofDays(4000)));
        refuses("pageSize=0", settings -> settings.withPageSize(0));
        refuses("pageSize=10001", settings -> settings.withPageSize(10_001));
        refuses("rowsPerSecond=0", settings -> settings.withRowsPerSecond(0));
        refuses("rowsPerSecond=1000001", settings -> settings.withRowsPerSecond(1_000_001));
        refuses("fetchSize=0", settings -> settings.withFetchSize(0));
        refuses("queryTimeout=PT0.999S", settings -> settings.withQueryTimeout(Duration.ofMillis(999)));
        refuses("queryTimeout=PT21S", settings -> settings.withQueryTimeout(Duration.ofSeconds(21)));
        refuses("lease=PT0.999S", settings -> settings.withLease(Duration.ofMillis(999)));
        refuses("lease=PT10M1S", settings -> settings.withLease(Duration.ofSeconds(601)));
    }

    private void refuses(String message, UnaryOperator<ReconcilerSettings> change) {
        assertThatThrownBy(() -> change.apply(defaults))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("allowed are");
    }

    @Test
    void shouldSayWhatAReconcilerLacks() {
        assertThatThrownBy(() -> Reconciler.builder().start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lacks its name");
        assertThatThrownBy(
                        () -> Reconciler.builder().name("open").topic("orders").start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("reconciler open lacks its dataSource");
        for (String name : List.of("", "A", "a b", "{a}", "a".repeat(65))) {
            assertThatThrownBy(() -> Reconciler.builder().name(name)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}

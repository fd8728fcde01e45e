package io.minutehand.loadtest.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rows of the fault matrix that not every build runs: {@code -Pfaults}. */
@Tag("faults")
class OtherFaultRowsFaultsIT {
    private static final int AT_ONCE = 2;

    private static RowsAtOnce rows;

    static Stream<String> numbers() {
        return FaultRows.all().stream().filter(row -> !row.isFast()).map(FaultRow::number);
    }

    @BeforeAll
    static void start() {
        rows = new RowsAtOnce(
                FaultRows.all().stream().filter(row -> !row.isFast()).toList(), AT_ONCE);
    }

    @AfterAll
    static void stop() {
        rows.close();
    }

    @ParameterizedTest(name = "row {0}")
    @MethodSource("numbers")
    void shouldHoldItsPassLine(String number) throws Exception {
        FaultReport report = rows.reportOf(number);

        assertThat(report.run().failures())
                .as(() -> String.join("\n", report.lines()))
                .isEmpty();
        assertThat(report.exitStatus()).isZero();
    }
}

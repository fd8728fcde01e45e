package io.minutehand.loadtest.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of the fault matrix in short form, some at once, a test each. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FaultRowsRun {
    private final List<FaultRow> chosen;
    private final int atOnce;
    private RowsAtOnce rows;

    FaultRowsRun(Predicate<FaultRow> choice, int atOnce) {
        this.chosen = FaultRows.all().stream().filter(choice).toList();
        this.atOnce = atOnce;
    }

    Stream<String> numbers() {
        return chosen.stream().map(FaultRow::number);
    }

    @BeforeAll
    void start() {
        rows = new RowsAtOnce(chosen, atOnce);
    }

    @AfterAll
    void stop() {
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

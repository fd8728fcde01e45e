package io.minutehand.loadtest.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class FaultCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandLine command =
            new CommandLine(new FaultCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

    @Test
    void shouldListEachRowOnce() {
        assertThat(command.execute("--list")).isZero();

        assertThat(out.toString().lines().map(line -> line.trim().split(" ", 2)[0]))
                .contains("1", "2", "3", "4", "7", "8", "11", "18", "22", "23", "24", "25", "28")
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({
        "'', Which row?",
        "99, There is no row 99",
        "1 2 --json x.json, --json takes the report of one row",
        "--all 1, --all runs all rows",
        "--report x.md, --results",
        "--all --seed 5 --results x, --all takes what was run before",
        "4 --minutes 2147483647, is more than a week",
        "43 --times 0, --times and --minutes are 1 or more",
        "43 --json /proc/none/x.json, /proc/none cannot be made",
        "43 --results /proc/none, /proc/none cannot be made",
        "43 --times 2 --json x.json, --times makes several reports"
    })
    void shouldRefuseWhatMakesNoSense(String arguments, String message) {
        assertThat(command.execute(arguments.isEmpty() ? new String[0] : arguments.split(" ")))
                .isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }
}

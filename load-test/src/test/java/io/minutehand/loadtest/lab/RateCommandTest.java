package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class RateCommandTest {
    private final StringWriter err = new StringWriter();
    private final CommandLine command = new CommandLine(RateCommand.steady()).setErr(new PrintWriter(err));

    @ParameterizedTest
    @CsvSource({
        "--rate 0, --rate=0.0 must be above 0",
        "--jobs 0, there would be 0 jobs",
        "--payload 15, --payload=15 must be from 16",
        "--nodes 0, are 1 or more",
        "--against mysql, --against=mysql is not known",
        "--against minutehand, --against=minutehand is not known"
    })
    void shouldRefuseWhatMakesNoSense(String arguments, String message) {
        assertThat(command.execute(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }
}

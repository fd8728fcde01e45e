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
        "--rate NaN, --rate=NaN must be above 0",
        "--nodes 0, --nodes=0 must be from 1",
        "--nodes 2000000000, --nodes=2000000000 must be from 1",
        "--ahead 9223372036854775807, --ahead=9223372036854775807 must be from 1",
        "--warmup -1, --warmup=-1 must be from 0",
        "--json /proc/none/x.json, /proc/none cannot be made",
        "--against mysql, --against=mysql is not known",
        "--against minutehand, --against=minutehand is not known"
    })
    void shouldRefuseWhatMakesNoSense(String arguments, String message) {
        assertThat(command.execute(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }
}

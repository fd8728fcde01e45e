package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ProducersCommandTest {
    private final StringWriter err = new StringWriter();
    private final CommandLine command = new CommandLine(new ProducersCommand()).setErr(new PrintWriter(err));

    @ParameterizedTest
    @CsvSource({
        "--seconds 0, --seconds and --threads must be positive",
        "--threads 1;0, --threads must be positive",
        "--payload 15, --payload 16 or more",
        "--runs 0, --runs=0 must be from 1",
        "--against mysql, --against=mysql is not known",
        "--json /proc/none/x.json, /proc/none cannot be made",
        "--results /proc/none, /proc/none cannot be made"
    })
    void shouldRefuseWhatMakesNoSense(String arguments, String message) {
        assertThat(command.execute(arguments.replace(';', ',').split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }
}

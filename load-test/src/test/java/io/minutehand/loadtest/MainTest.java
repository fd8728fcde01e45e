package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandLine commandLine =
            Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

    @ParameterizedTest
    @ValueSource(strings = "worker")
    void shouldSayThatACommandIsStillToCome(String name) {
        assertThat(commandLine.execute(name)).isEqualTo(2);
        assertThat(err.toString()).contains("minutehand " + name + " is not in this version yet");
    }

    @Test
    void shouldSaySoWhateverFollowsTheName() {
        assertThat(commandLine.execute("worker", "fault", "--full", "--row=3")).isEqualTo(2);
        assertThat(err.toString()).contains("minutehand worker is not in this version yet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"chaos --full --nodes=3", "chaos", "--seed=3"})
    void shouldSayThatAScenarioIsStillToCome(String arguments) {
        assertThat(commandLine.execute(("bench " + arguments).split(" "))).isEqualTo(2);
        assertThat(err.toString())
                .contains("minutehand bench " + arguments.split(" ")[0] + " is not in this version yet");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    router --redis redis://localhost:1                                | Who may use it?
                    router --redis redis://localhost:1 --insecure-dev --host 0.0.0.0  | --insecure-dev is for loopback alone
                    router --redis redis://localhost:1 --insecure-dev --keys k.json   | leave one of them out
                    router --keys k.json                                              | Which Redis?
                    """)
    void shouldNotStartARouterThatEverybodyCouldUse(String arguments, String message) {
        assertThat(commandLine.execute(arguments.split(" +"))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void shouldListItsCommandsButNotThoseForItself() {
        assertThat(commandLine.execute("--help")).isZero();
        assertThat(out.toString())
                .contains("demo", "router", "worker", "bench", "admin")
                .doesNotContain(
                        "demo-worker", "fault-worker", "fault-producer", "lab-worker", "lab-producer", "lab-fill");
    }

    @Test
    void shouldAskForACommand() {
        assertThat(commandLine.execute()).isEqualTo(2);
        assertThat(err.toString()).contains("Which command?", "Usage: minutehand");
    }

    @Test
    void shouldTellItsVersion() {
        assertThat(commandLine.execute("--version")).isZero();
        assertThat(out.toString()).startsWith("minutehand ");
    }

    @Test
    void shouldRefuseAnUnknownCommand() {
        assertThat(commandLine.execute("fly")).isEqualTo(2);
        assertThat(err.toString()).contains("fly");
    }
}

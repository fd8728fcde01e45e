package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    worker --webhook t=https://example.com/                             | Which Redis?
                    worker --redis redis://localhost:1                                  | Give --webhook TOPIC=URL
                    worker --redis redis://localhost:1 --webhook https://example.com/   | wants TOPIC=URL
                    worker --redis redis://localhost:1 --webhook T!=https://example.com | --webhook: topic
                    worker --redis redis://localhost:1 --webhook t=https://a.b --webhook t=https://c.d | names topic t twice
                    worker --redis redis://localhost:1 --webhook t=https://example.com/ | Give --webhook-secrets
                    worker --redis redis://localhost:1 --webhook t=https://example.com/ --webhook-secrets no-such-file | cannot be read
                    worker --redis redis://localhost:1 --webhook t=http://example.com/ --webhook-secrets SECRETS | topic t: a webhook is refused
                    worker --redis redis://localhost:1 --webhook t=https://example.com/ --webhook-secrets SECRETS --webhook-allow x | not HOST:PORT
                    worker --redis redis://localhost:1 --webhook t=https://example.com/ --webhook-secrets EMPTY | there is no secret
                    worker --redis redis://localhost:1 --webhook t=https://example.com/ --webhook-secrets WRONG | begins with whsec_
                    worker --redis redis://localhost:1 --webhook t=https://example.com/ --webhook-secrets SECRETS --webhook-per-host 0 | perHost=0
                    """)
    void shouldNotStartAWorkerWithoutGoodOptions(String arguments, String message, @TempDir Path home)
            throws Exception {
        assertThat(commandLine.execute("worker", "new-secret")).isZero();
        Files.writeString(home.resolve("SECRETS"), "# a comment\n\n" + out);
        Files.writeString(home.resolve("EMPTY"), "\n# nothing\n");
        Files.writeString(home.resolve("WRONG"), "secret\n");
        String[] words = Arrays.stream(arguments.split(" +"))
                .map(word -> word.matches("[A-Z]+") ? home.resolve(word).toString() : word)
                .toArray(String[]::new);
        assertThat(commandLine.execute(words)).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void shouldListItsCommandsButNotThoseForItself() {
        assertThat(commandLine.execute("--help")).isZero();
        assertThat(out.toString())
                .contains("demo", "router", "worker", "receiver", "bench", "admin", "deploy/minutehand order-demo")
                .doesNotContain(
                        "demo-worker", "fault-worker", "fault-producer", "lab-worker", "lab-producer", "lab-fill");
    }

    @Test
    void shouldSayWhatEachScenarioMeasures() {
        assertThat(commandLine.execute("bench", "--help")).isZero();
        String commands =
                out.toString().replaceFirst("(?s).*\nCommands:\n", "").replaceFirst("(?s)\nExit status.*", "");
        // A description that goes on in the next line is one.
        assertThat(commands.replaceAll("\n {8,}", " ").strip().lines())
                .hasSizeGreaterThan(5)
                .allMatch(line -> line.matches(" *[a-z-]+ +[A-Z].*\\."));
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

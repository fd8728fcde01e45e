package io.minutehand.loadtest.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class DemoCommandTest {
    @TempDir
    Path directory;

    @Test
    void shouldHaveTheDefaultsOfTheContract() {
        DemoOptions options = parse();

        assertThat(options.nodes()).isEqualTo(3);
        assertThat(options.jobs()).isEqualTo(10_000);
        assertThat(options.rate()).isEqualTo(500);
        assertThat(options.shards()).isEqualTo(8);
        assertThat(options.topics()).containsExactly(DemoTopic.values());
        assertThat(options.aheadSeconds()).isEqualTo(10);
        assertThat(options.killNodeAt()).isNull();
        assertThat(options.addNodeAt()).isNull();
        assertThat(options.json()).isNull();
        assertThat(options.workDir()).isNull();
        assertThat(options.keepKeys()).isFalse();
        assertThat(options.live()).isFalse();
    }

    @Test
    void shouldTakeAllItsOptions() {
        DemoOptions options = parse(
                "--nodes=4 --jobs=75000 --rate=250.5 --shards=16 --topics=report.render,webhook.callback --ahead=30"
                        .split(" "));
        DemoOptions more = parse(
                "--redis=redis://:secret@example:6380 --kill-node-at=2 --add-node-at=3.5 --json=a.json --keep-keys"
                        .split(" "));

        assertThat(options.nodes()).isEqualTo(4);
        assertThat(options.jobs()).isEqualTo(75_000);
        assertThat(options.rate()).isEqualTo(250.5);
        assertThat(options.shards()).isEqualTo(16);
        assertThat(options.topics()).containsExactly(DemoTopic.RENDER_REPORT, DemoTopic.CALL_WEBHOOK);
        assertThat(options.aheadSeconds()).isEqualTo(30);
        assertThat(more.redis()).isEqualTo("redis://:secret@example:6380");
        assertThat(more.killNodeAt()).isEqualTo(2);
        assertThat(more.addNodeAt()).isEqualTo(3.5);
        assertThat(more.json()).isEqualTo(Path.of("a.json"));
        assertThat(more.keepKeys()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--nodes=0 | --nodes=0 is not allowed; it must be 1 to 32",
                "--nodes=33 | 1 to 32",
                "--jobs=0 | --jobs=0 is not allowed; it must be 1 to 1000000",
                "--jobs=many | --jobs",
                "--rate=0 | --rate=0.0 is not allowed",
                "--shards=257 | 1 to 256",
                "--topics=mail.send | the demo has no topic mail.send",
                "--ahead=0 | --ahead=0.0 is not allowed",
                "--kill-node-at=20 | 19.998 s for 10000 jobs at 500.0 a second",
                "--kill-node-at=-1 | --kill-node-at=-1.0 is not allowed",
                "--add-node-at=21 | --add-node-at=21.0 is not allowed",
                "--nodes=1 --kill-node-at=2 | 2 or more if one of them is killed",
                "--speed=2 | Unknown option: '--speed=2'",
                "more | Unmatched argument at index 0: 'more'"
            })
    void shouldRefuseWhatMakesNoSense(String arguments, String message) {
        StringWriter err = new StringWriter();

        int status = commandLine(err).execute(arguments.trim().split(" "));

        assertThat(status).isEqualTo(2);
        assertThat(err.toString()).contains(message.trim());
    }

    @Test
    void shouldRefuseAWorkDirectoryThatIsInUse() throws Exception {
        Files.createFile(directory.resolve("demo.ledger"));
        StringWriter err = new StringWriter();

        assertThat(commandLine(err).execute("--work-dir", directory.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("an empty or new directory");
    }

    @Test
    void shouldRefuseAFileAsWorkDirectory() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        StringWriter err = new StringWriter();

        assertThat(commandLine(err).execute("--work-dir", file.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("--work-dir=" + file + " cannot be read as a directory");
    }

    @Test
    void shouldRefuseAReportThatCannotBeWritten() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        StringWriter err = new StringWriter();

        assertThat(commandLine(err).execute("--json", directory.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("--json=" + directory + " is not allowed", "this is a directory");
        assertThat(commandLine(err).execute("--json", file.resolve("a.json").toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("a file that can be written, and " + file);
        assertThat(parse("--json", directory.resolve("new/dir/a.json").toString())
                        .json())
                .isNotNull();
    }

    @Test
    void shouldExplainItself() {
        StringWriter out = new StringWriter();

        int status =
                commandLine(new StringWriter()).setOut(new PrintWriter(out)).execute("--help");

        assertThat(status).isZero();
        assertThat(out.toString())
                .contains("--nodes=N", "--kill-node-at=SECONDS", "Exit status:", "(default 10000)")
                .doesNotContain("${", "secret");
    }

    private static DemoOptions parse(String... arguments) {
        DemoCommand command = new DemoCommand();
        new CommandLine(command).parseArgs(arguments);
        return command.options();
    }

    private static CommandLine commandLine(StringWriter err) {
        return new CommandLine(new DemoCommand()).setErr(new PrintWriter(err));
    }
}

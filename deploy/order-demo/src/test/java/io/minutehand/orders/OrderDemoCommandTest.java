package io.minutehand.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class OrderDemoCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CommandLine commandLine =
            OrderDemoCommand.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --workers 0                                   | --workers=0 is not allowed; it must be 1 to 8
                    --workers 9                                   | --workers=9 is not allowed
                    --port 70000                                  | --port=70000 is not allowed; it must be 0 to 65535
                    --delay 100ms                                 | --delay=0.1s is not allowed; it must be 1s to 3600s
                    --delay soon                                  | is not a duration; give one such as 20s, 500ms or 2m
                    --scan 11m                                    | --scan=660s is not allowed; it must be 0.5s to 600s
                    --orders 0                                    | --orders=0 is not allowed; it must be 1 to 1000000
                    --orders 9 --rate 0                           | --rate=0.0 is not allowed; it must be 1 to 5000
                    --orders 9 --pay-share 1.5                    | --pay-share=1.5 is not allowed; it must be 0 to 1
                    --orders 9 --port 0                           | with --orders there is no page
                    --orders 9 --stop-redis 2m                    | --stop-redis=120s is not allowed; it must be 1s to 60s
                    --orders 9 --stop-redis 2s --flush            | --stop-redis empties Redis, too
                    --orders 9 --kill-worker --workers 1          | 2 or more if one of them is killed
                    --orders 9 --flush --redis redis://localhost  | the demo breaks no Redis but its own
                    --orders 9 --json no-such-folder/report.json  | --json=no-such-folder/report.json is not allowed
                    --kill-worker                                 | go with --orders N
                    --json report.json                            | go with --orders N
                    --db-user me                                  | left out without --db
                    --db jdbc:mysql://localhost/x                 | not a JDBC URL of PostgreSQL
                    --db jdbc:postgresql://h/d --db-password-file no-such-file | no-such-file cannot be read
                    --fly                                         | Unknown option:
                    """)
    void shouldRefuseBadOptionsBeforeAnythingStarts(String arguments, String message) {
        assertThat(commandLine.execute(arguments.split(" +"))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void shouldNeverShowThePassword(@TempDir Path home) throws Exception {
        Path file = Files.writeString(home.resolve("password"), "s3cr&t word\n");
        OrderDemoCommand command = new OrderDemoCommand();
        new CommandLine(command)
                .parseArgs("--db=jdbc:postgresql://h/d?ssl=false", "--db-user=me", "--db-password-file=" + file);
        assertThat(command.databaseUrl()).isEqualTo("jdbc:postgresql://h/d?ssl=false&user=me&password=s3cr%26t+word");

        assertThat(commandLine.execute("--db=jdbc:postgresql:// /?password=hunter2"))
                .isEqualTo(2);
        assertThat(commandLine.execute(
                        "--db=jdbc:postgresql://127.0.0.1:1/d", "--db-password-file=" + file, "--workers=1"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("127.0.0.1:1/d").doesNotContain("hunter2", "s3cr");
    }

    @Test
    void shouldTellItsOptionsWithUnitsAndDefaults() {
        assertThat(commandLine.execute("--help")).isZero();
        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("--delay=DURATION From an order to its close, 1s to 60m (default 20s)")
                .contains("--scan=DURATION", "(default 5s)")
                .contains("--workers=N Worker processes, 1 to 8 (default 2)")
                .contains("0 = any free one (default 8081)")
                .contains("1 to 5,000 (default 400)")
                .contains("--db-user", "--db-password-file", "MINUTEHAND_DB_PASSWORD", "--redis", "--json")
                .contains("--kill-worker", "--stop-redis=DURATION", "--flush", "--pay-share=SHARE");
    }

    /** The options of the README are those of the command, with their defaults. */
    @Test
    void shouldBeAsTheReadmeSays() throws Exception {
        String readme = Files.readString(Path.of("../../README.md"));
        String section = readme.substring(readme.indexOf("\n## The order demo\n"));
        String table = section.substring(section.indexOf("| option |"), section.indexOf("\n## ", 1));
        Set<String> named = new TreeSet<>();
        Matcher options = Pattern.compile("`(--[a-z-]+)").matcher(table.replaceAll("(?m)^\\| ([^|]+)\\|.*$", "$1"));
        while (options.find()) {
            named.add(options.group(1));
        }
        Set<String> known =
                new TreeSet<>(commandLine.getCommandSpec().optionsMap().keySet());
        known.removeAll(Set.of("--help", "-h", "--version", "-V"));
        assertThat(named).isEqualTo(known);

        commandLine.execute("--help");
        String help = out.toString().replaceAll("\\s+", " ");
        for (String row : table.split("\n", -1)) {
            Matcher single =
                    Pattern.compile("\\| `(--[a-z-]+)` \\|.*\\| (\\w+) \\|").matcher(row);
            if (single.matches()) {
                assertThat(help).containsPattern(single.group(1) + "=[^)]*\\(default " + single.group(2) + "\\)");
            }
        }
    }

    @Test
    void shouldAllowARedisOutageAndAScanBeyondTheGrace() {
        OrderDemoCommand command = new OrderDemoCommand();
        new CommandLine(command).parseArgs("--orders=10", "--stop-redis=3s", "--seed=7");
        OrderRun.Plan plan = command.plan();

        assertThat(plan.grace(Duration.ofSeconds(5))).isEqualTo(Duration.ofSeconds(18));
        assertThat(plan.seed()).isEqualTo(7);
        assertThat(plan.rate()).isEqualTo(400);
    }
}

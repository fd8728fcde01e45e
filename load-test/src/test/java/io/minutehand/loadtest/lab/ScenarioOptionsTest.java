package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ScenarioOptionsTest {
    private static final CommandLine COMMANDS = new CommandLine(CommandLine.Model.CommandSpec.create())
            .addSubcommand("steady", RateCommand.steady())
            .addSubcommand("burst", RateCommand.burst())
            .addSubcommand("backlog", new BacklogCommand())
            .addSubcommand("scale", new ScaleCommand())
            .addSubcommand("soak", new SoakCommand())
            .addSubcommand("idle", new IdleCommand());

    @ParameterizedTest
    @CsvSource({
        "steady --find-max --runs 3, --find-max looks for the product's rate once",
        "steady --find-max --steps 0, --steps=0 must be from 1",
        "steady --find-max --limit 0, --limit=0.0 must be above 0",
        "burst --find-max, --find-max goes with steady only",
        "backlog --pending 0, --pending=0 must be from 1",
        "backlog --pending 5;5, --pending needs numbers; each once",
        "backlog --jobs 100000 --rate 1, take more than an hour",
        "backlog --against rdelayedqueue, --against=rdelayedqueue cannot be measured here",
        "backlog --spread 0, --spread=0 must be from 1",
        "scale --nodes 1;0, --nodes=0 must be from 1",
        "scale --nodes 2;2, --nodes needs numbers; each once",
        "scale --primaries 0, --primaries=0 must be from 1",
        "scale --primaries 3 --redis redis://127.0.0.1:1, --primaries starts Clusters of its own",
        "scale --seconds 0, there would be 0 jobs",
        "soak --minutes 1, give less than 9 samples",
        "soak --sample 0, --sample=0.0 must be 0.1 s or more",
        "soak --runs 2, a soak is one run",
        "soak --csv /proc/none/x.csv, /proc/none cannot be made",
        "idle --seconds 0, --seconds=0.0 must be above 0",
        "idle --shards 0, --shards=0 must be from 1",
        "idle --html /proc/none/x.html, /proc/none cannot be made"
    })
    void shouldRefuseWhatMakesNoSense(String arguments, String message) {
        StringWriter err = new StringWriter();
        COMMANDS.setErr(new PrintWriter(err));

        assertThat(COMMANDS.execute(arguments.replace(';', ',').split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(message.replace(';', ','));
    }
}

package io.minutehand.loadtest.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** The {@code bench} command: a scenario each. */
@Command(
        name = "bench",
        description = "Runs a load or fault scenario.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "SCENARIO",
        subcommands = FaultCommand.class)
public final class BenchCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    /** A scenario that a later version has, and its options. */
    @Unmatched
    private final List<String> rest = new ArrayList<>();

    @Override
    public Integer call() {
        String scenario = rest.isEmpty() ? "without a scenario" : rest.get(0);
        spec.commandLine()
                .getErr()
                .println("minutehand bench " + scenario
                        + " is not in this version yet; bench --help lists those that are");
        return ExitCode.USAGE;
    }
}

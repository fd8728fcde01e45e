package io.minutehand.loadtest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Stands for a command that a later version has, so that its name answers with more than "unknown". */
@Command(description = "Not in this version yet.")
final class NotYet implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    /** Whatever was written after the name; it makes no difference. */
    @Unmatched
    private final List<String> rest = new ArrayList<>();

    @Override
    public Integer call() {
        spec.commandLine().getErr().println("minutehand " + spec.name() + " is not in this version yet");
        return ExitCode.USAGE;
    }
}

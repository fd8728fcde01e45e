package io.minutehand.loadtest.lab;

import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** What options may be; each method throws a {@link ParameterException} that names option, value and limits. */
final class Limits {
    /** Of processes, shards, slots and runs: more is a typing error on one machine. */
    private static final int MOST = 1_024;

    private Limits() {}

    static void count(CommandSpec spec, String option, int value) {
        within(spec, option, value, 1, MOST, "");
    }

    /** @param unit with a blank before it, or nothing */
    static void within(CommandSpec spec, String option, long value, long least, long most, String unit) {
        require(
                spec,
                value >= least && value <= most,
                String.format(Locale.ROOT, "%s=%d must be from %d to %,d%s", option, value, least, most, unit));
    }

    static void require(CommandSpec spec, boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}

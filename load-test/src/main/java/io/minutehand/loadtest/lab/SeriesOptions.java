package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.report.OutputFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options of every scenario: on what Redis, how often, and where reports go. */
final class SeriesOptions {
    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "So many runs; the table shows their medians (default ${DEFAULT-VALUE}).")
    int runs = 1;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Write each run's report there, and take those that are there already as run.")
    @Nullable
    Path results;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the report there, with all runs and their medians.")
    @Nullable
    Path json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a page with charts there, which needs no network.")
    @Nullable
    Path html;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:MINUTEHAND_REDIS}",
            description = "Redis to measure on: an empty one, which is emptied after each run. Else one is started.")
    @Nullable
    String redis;

    /** Refuses what makes no sense, and files that could not be written afterwards. */
    void check(CommandSpec spec) {
        Limits.count(spec, "--runs", runs);
        OutputFiles.requireWritable(spec, json, html);
        OutputFiles.requireDirectories(spec, results);
    }
}

package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.report.OutputFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A steady load for long: does anything grow? */
@Command(
        name = "soak",
        description = {
            "Runs a steady load for long and looks whether anything grows.",
            "Watched are heap after a full collection, resident memory and threads of every process, resident memory and keys of Redis.",
            ""
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:no job was lost, early or started twice, and all is flat",
            "1:some job was, or something is not flat; the lines FAILED say which",
            "2:the options are wrong",
            "3:the run could not be made"
        })
public final class SoakCommand implements Callable<Integer> {
    static final String SCENARIO = "soak";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(names = "--minutes", paramLabel = "M", description = "How long jobs are due (default ${DEFAULT-VALUE}).")
    private double minutes = 60;

    @Option(
            names = "--sample",
            paramLabel = "S",
            description =
                    "Seconds between samples; before each, every process collects its heap (default ${DEFAULT-VALUE}).")
    private double sampleSeconds = 10;

    @Option(
            names = "--ahead",
            paramLabel = "MS",
            description = "How long before its due time a job is scheduled (default ${DEFAULT-VALUE}).")
    private long aheadMs = 2_000;

    @Option(names = "--nodes", paramLabel = "N", description = "Worker processes (default ${DEFAULT-VALUE}).")
    private int nodes = 3;

    @Option(names = "--shards", paramLabel = "N", description = "Shards of the topic (default ${DEFAULT-VALUE}).")
    private int shards = 8;

    @Option(names = "--csv", paramLabel = "FILE", description = "Write the samples there.")
    private @Nullable Path csv;

    @Mixin
    private final LoadOptions load = new LoadOptions(2_000);

    @Mixin
    private final SeriesOptions series = new SeriesOptions();

    @Override
    public Integer call() throws Exception {
        load.check(spec);
        LoadOptions.checkJobs(spec, jobs(), "--minutes, --rate");
        Limits.require(spec, sampleSeconds >= 0.1, "--sample=" + sampleSeconds + " must be 0.1 s or more");
        Limits.require(
                spec,
                minutes * 60 / sampleSeconds >= SoakVerdict.LEAST_SAMPLES,
                "--minutes=" + minutes + " with --sample=" + sampleSeconds + " give less than "
                        + SoakVerdict.LEAST_SAMPLES + " samples");
        Limits.require(spec, series.runs == 1, "--runs: a soak is one run");
        Limits.within(spec, "--ahead", aheadMs, 1, 3_600_000, " ms");
        Limits.count(spec, "--nodes", nodes);
        Limits.count(spec, "--shards", shards);
        series.check(spec);
        OutputFiles.requireWritable(spec, csv);
        return LabSession.run(spec, series, LabSession.usualRedis(), this::measure);
    }

    private long jobs() {
        return Math.round(load.rate * minutes * 60);
    }

    private SoakReport measure(LabSession session) throws IOException, InterruptedException {
        LabSettings settings = load.settings(Scheduler.MINUTEHAND, "mhlab0", jobs(), aheadMs, nodes, shards)
                .collecting(Math.round(sampleSeconds * 1_000));
        String name = SCENARIO + "-" + Math.round(load.rate) + "-" + Math.round(minutes) + "-minutes";
        SoakReport.Run run = session.once(
                name, SCENARIO + " for " + minutes + " minutes", settings.toString(), SoakReport.Run.class, () -> {
                    SoakSampler sampler = new SoakSampler(sampleSeconds);
                    try (LabRun lab = new LabRun(SCENARIO, settings, session.redis(), 1, session.logs(name), sampler)) {
                        SystemReport report = lab.run();
                        return new SoakReport.Run(report, sampler.series(), settings.toString());
                    }
                });
        SoakReport report = SoakReport.of(Machine.facts(), told(), run);
        if (csv != null) {
            Files.write(csv, SoakSampler.csv(run.series()));
        }
        return report;
    }

    private Map<String, String> told() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("minutes", Double.toString(minutes));
        settings.put("seconds between samples", Double.toString(sampleSeconds));
        load.tell(settings);
        settings.put("nodes", Integer.toString(nodes));
        settings.put("shards", Integer.toString(shards));
        settings.put("scheduled ahead", aheadMs + " ms");
        settings.put("redis", LabSession.REDIS);
        settings.put(
                "heap",
                "in use right after a collection of the whole heap, which each process makes as often as samples are taken: the pauses are in the lateness");
        settings.put(
                "flat",
                "the median of the last third of the samples within 5 percent of that of the middle third; a count may differ by 1");
        return settings;
    }
}

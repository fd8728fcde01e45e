package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.report.OutputFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options of the scenarios that measure lateness at a rate, of several schedulers. */
final class LabOptions {
    private static final long LONGEST_AHEAD_MS = 3_600_000;

    @Mixin
    final LoadOptions load = new LoadOptions(500);

    @Option(names = "--seconds", paramLabel = "S", description = "How long jobs are due (default ${DEFAULT-VALUE}).")
    double seconds = 30;

    @Option(names = "--jobs", paramLabel = "N", description = "How many jobs, instead of --seconds.")
    @Nullable
    Long jobs;

    @Option(
            names = "--ahead",
            paramLabel = "MS",
            description = "How long before its due time a job is scheduled (default ${DEFAULT-VALUE}).")
    long aheadMs = 2_000;

    @Option(
            names = "--stored-first",
            description = "Store all jobs before the first is due, instead of --ahead. --against implies it.")
    boolean storedFirst;

    @Option(
            names = "--store-rate",
            paramLabel = "N",
            description =
                    "Jobs a second that every scheduler can surely store, for --stored-first (default ${DEFAULT-VALUE}).")
    double storeRate = 8_000;

    @Option(
            names = "--against",
            paramLabel = "SYSTEM",
            split = ",",
            description = {
                "Measure others with the same jobs, one after the other in turn: single-zset (one job a pop, 200 ms of sleep),",
                "zset-tuned (100 a pop, sleeps until the next is due), rdelayedqueue (Redisson's)."
            })
    List<String> against = new ArrayList<>();

    @Option(names = "--nodes", paramLabel = "N", description = "Worker processes (default ${DEFAULT-VALUE}).")
    int nodes = 3;

    @Option(names = "--shards", paramLabel = "N", description = "Shards of the topic (default ${DEFAULT-VALUE}).")
    int shards = 8;

    @Mixin
    final SeriesOptions series = new SeriesOptions();

    @Option(names = "--hdr", paramLabel = "DIR", description = "Write .hgrm and .hlog of each run there.")
    @Nullable
    Path hdr;

    @Option(
            names = "--find-max",
            description = {
                "Of steady only: look for the highest rate that is held for --seconds, from --rate on; each step has processes",
                "and a Redis without jobs of its own. Held: p99 within --limit, no job lost, early or started twice."
            })
    boolean findMax;

    @Option(
            names = "--limit",
            paramLabel = "MS",
            description = "What p99 may be for --find-max (default ${DEFAULT-VALUE}).")
    double limitMs = 100;

    @Option(
            names = "--steps",
            paramLabel = "N",
            description = "How many rates --find-max tries at most (default ${DEFAULT-VALUE}).")
    int steps = 14;

    /** Refuses what makes no sense, and files that could not be written afterwards. */
    void check(CommandSpec spec) {
        load.check(spec);
        LoadOptions.checkJobs(spec, jobs(), "--seconds, --jobs");
        Limits.within(spec, "--ahead", aheadMs, 1, LONGEST_AHEAD_MS, " ms");
        Limits.count(spec, "--nodes", nodes);
        Limits.count(spec, "--shards", shards);
        Limits.require(spec, storeRate >= 1, "--store-rate=" + storeRate + " must be 1 or more");
        for (String name : against) {
            Limits.require(
                    spec,
                    Scheduler.labels().contains(name) && !name.equals(Scheduler.MINUTEHAND.label()),
                    "--against=" + name + " is not known; there are single-zset, zset-tuned and rdelayedqueue");
        }
        if (findMax) {
            Limits.require(
                    spec,
                    jobs == null && against.isEmpty() && !storedFirst && series.runs == 1 && hdr == null,
                    "--find-max looks for the product's rate once: it goes without --jobs, --against, --stored-first, --runs, --hdr");
            Limits.require(spec, limitMs > 0, "--limit=" + limitMs + " must be above 0");
            Limits.count(spec, "--steps", steps);
        }
        series.check(spec);
        OutputFiles.requireDirectories(spec, hdr);
    }

    long jobs() {
        return jobs == null ? Math.round(load.rate * seconds) : jobs;
    }

    private boolean allStoredFirst() {
        return storedFirst || !against.isEmpty();
    }

    /** The product first, then those it is measured against. */
    List<Scheduler> schedulers() {
        List<Scheduler> schedulers = new ArrayList<>(List.of(Scheduler.MINUTEHAND));
        against.forEach(name -> schedulers.add(Scheduler.named(name)));
        return schedulers;
    }

    LabSettings settings(Scheduler scheduler, Arrivals arrivals, int run) {
        return load.settings(scheduler, "mhlab" + run, jobs(), allStoredFirst() ? 0 : aheadMs, nodes, shards)
                .with(arrivals);
    }

    /** The settings of a step of --find-max. */
    LabSettings settings(double rate) {
        LoadOptions at = load.withRate(rate);
        return at.settings(Scheduler.MINUTEHAND, "mhlab0", Math.round(rate * seconds), aheadMs, nodes, shards);
    }

    /** What stands in the report. */
    Map<String, String> told() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("jobs", Long.toString(jobs()));
        load.tell(settings);
        settings.put("nodes", Integer.toString(nodes));
        settings.put("shards", Integer.toString(shards));
        settings.put("scheduled ahead", allStoredFirst() ? "all stored before the first is due" : aheadMs + " ms");
        settings.put("runs", Integer.toString(series.runs));
        settings.put("redis", LabSession.REDIS);
        settings.put(
                "Redis CPU a job",
                "all that the server used, divided by the jobs; what it uses without jobs is measured for a second before (redisIdleCpuUsPerSec) and subtracted in redisCpuUsPerJobNet");
        return settings;
    }
}

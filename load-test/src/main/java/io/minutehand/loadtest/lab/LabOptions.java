package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of every scenario that sends jobs at a rate. */
final class LabOptions {
    @Option(names = "--rate", paramLabel = "N", description = "Jobs due in a second (default ${DEFAULT-VALUE}).")
    double rate = 500;

    @Option(names = "--seconds", paramLabel = "S", description = "How long jobs are due (default ${DEFAULT-VALUE}).")
    double seconds = 30;

    @Option(names = "--jobs", paramLabel = "N", description = "How many jobs, instead of --seconds.")
    @Nullable
    Long jobs;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Jobs before the measured ones (default: 5 s of the rate, or 1,000 within 20 s).")
    @Nullable
    Long warmup;

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

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "So many runs; the table shows their medians (default 1).")
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

    @Option(names = "--hdr", paramLabel = "DIR", description = "Write .hgrm and .hlog of each run there.")
    @Nullable
    Path hdr;

    @Option(names = "--nodes", paramLabel = "N", description = "Worker processes (default ${DEFAULT-VALUE}).")
    int nodes = 3;

    @Option(names = "--producers", paramLabel = "N", description = "Producer processes (default ${DEFAULT-VALUE}).")
    int producers = 1;

    @Option(names = "--shards", paramLabel = "N", description = "Shards of the topic (default ${DEFAULT-VALUE}).")
    int shards = 8;

    @Option(
            names = "--slots",
            paramLabel = "N",
            description = "Handlers at once in a worker (default ${DEFAULT-VALUE}).")
    int slots = 64;

    @Option(
            names = "--payload",
            paramLabel = "BYTES",
            description = "Size of a payload, from 16 (default ${DEFAULT-VALUE}).")
    int payload = 100;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:MINUTEHAND_REDIS}",
            description = "Redis to measure on: an empty one, which is emptied after each run. Else one is started.")
    @Nullable
    String redis;

    @Option(names = "--planted", hidden = true)
    LabSettings.Planted planted = LabSettings.Planted.NONE;

    /** Of processes, shards, slots and runs: more is a typing error on one machine. */
    private static final int MOST = 1_024;

    private static final long LONGEST_AHEAD_MS = 3_600_000;

    /** What is wrong with them, or null. */
    @Nullable
    String refusal() {
        if (!(rate > 0 && rate <= 1_000_000)) {
            return "--rate=" + rate + " must be above 0 and 1,000,000 at most";
        }
        if (jobs() < 1 || jobs() > 50_000_000) {
            return "there would be " + jobs() + " jobs; 1 to 50,000,000 can be measured: see --seconds, --jobs";
        }
        if (payload < JobPayload.LEAST_BYTES || payload > 262_144) {
            return "--payload=" + payload + " must be from " + JobPayload.LEAST_BYTES + " to 262,144 bytes";
        }
        if (aheadMs < 1 || aheadMs > LONGEST_AHEAD_MS) {
            return "--ahead=" + aheadMs + " must be from 1 to " + LONGEST_AHEAD_MS + " ms";
        }
        if (warmup != null && (warmup < 0 || warmup > 50_000_000)) {
            return "--warmup=" + warmup + " must be from 0 to 50,000,000";
        }
        for (Map.Entry<String, Integer> count : Map.of(
                        "--runs",
                        runs,
                        "--nodes",
                        nodes,
                        "--producers",
                        producers,
                        "--shards",
                        shards,
                        "--slots",
                        slots)
                .entrySet()) {
            if (count.getValue() < 1 || count.getValue() > MOST) {
                return count.getKey() + "=" + count.getValue() + " must be from 1 to " + MOST;
            }
        }
        if (!(storeRate >= 1)) {
            return "--store-rate=" + storeRate + " must be 1 or more";
        }
        for (String name : against) {
            if (!Scheduler.labels().contains(name) || name.equals(Scheduler.MINUTEHAND.label())) {
                return "--against=" + name + " is not known; there are single-zset, zset-tuned and rdelayedqueue";
            }
        }
        return null;
    }

    long jobs() {
        return jobs == null ? Math.round(rate * seconds) : jobs;
    }

    /** The product first, then those it is measured against. */
    List<Scheduler> schedulers() {
        List<Scheduler> schedulers = new ArrayList<>(List.of(Scheduler.MINUTEHAND));
        against.forEach(name -> schedulers.add(Scheduler.named(name)));
        return schedulers;
    }

    LabSettings settings(Scheduler scheduler, Arrivals arrivals, int run) {
        long usual = Math.max(Math.round(5 * rate), Math.min(1_000, Math.round(20 * rate)));
        long warm = warmup == null ? usual : warmup;
        return new LabSettings(
                scheduler,
                "mhlab" + run,
                arrivals,
                jobs(),
                warm,
                rate,
                storedFirst || !against.isEmpty() ? 0 : aheadMs,
                payload,
                nodes,
                producers,
                shards,
                slots,
                planted);
    }
}

package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.WorkerProcess;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options of every scenario that sends jobs at a rate. */
final class LoadOptions {
    /** So long that JVMs have compiled what is measured: little, or fully. */
    private static final int WARMUP_S = 5;

    private static final int FULL_WARMUP_S = 60;

    @Option(names = "--rate", paramLabel = "N", description = "Jobs due in a second (default ${DEFAULT-VALUE}).")
    double rate;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description =
                    "Jobs before the measured ones (default: 5 s of the rate, or 1,000 within 20 s; 60 s of a rate above 10,000).")
    @Nullable
    Long warmup;

    @Option(names = "--producers", paramLabel = "N", description = "Producer processes (default ${DEFAULT-VALUE}).")
    int producers = 1;

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

    @Option(names = "--planted", hidden = true)
    LabSettings.Planted planted = LabSettings.Planted.NONE;

    /** @param rate unless another is given */
    LoadOptions(double rate) {
        this.rate = rate;
    }

    /** The same at another rate. */
    LoadOptions withRate(double other) {
        LoadOptions copy = new LoadOptions(other);
        copy.warmup = warmup;
        copy.producers = producers;
        copy.slots = slots;
        copy.payload = payload;
        copy.planted = planted;
        return copy;
    }

    /** Refuses what makes no sense. */
    void check(CommandSpec spec) {
        Limits.require(
                spec, rate > 0 && rate <= 1_000_000, "--rate=" + rate + " must be above 0 and 1,000,000 at most");
        Limits.require(
                spec,
                payload >= JobPayload.LEAST_BYTES && payload <= 262_144,
                "--payload=" + payload + " must be from " + JobPayload.LEAST_BYTES + " to 262,144 bytes");
        if (warmup != null) {
            Limits.within(spec, "--warmup", warmup, 0, 50_000_000, "");
        }
        Limits.count(spec, "--producers", producers);
        Limits.count(spec, "--slots", slots);
    }

    /** Refuses a number of jobs that cannot be measured. */
    static void checkJobs(CommandSpec spec, long jobs, String advice) {
        Limits.require(
                spec,
                jobs >= 1 && jobs <= 50_000_000,
                "there would be " + jobs + " jobs; 1 to 50,000,000 can be measured: see " + advice);
    }

    /** Tells them to who reads the report. */
    void tell(Map<String, String> settings) {
        settings.put("rate", Double.toString(rate));
        settings.put("warm-up", warmup == null ? usualWarmup(rate) + " jobs" : warmup + " jobs");
        settings.put(
                "compiler",
                LabSettings.compiler(rate) == WorkerProcess.Compiler.FULLY
                        ? "all tiers, in each process"
                        : "first tier alone (-XX:TieredStopAtLevel=1), in each process");
        settings.put("producers", Integer.toString(producers));
        settings.put("slots", Integer.toString(slots));
        settings.put("payload bytes", Integer.toString(payload));
    }

    /**
     * The settings of a run of these options, steady unless told otherwise.
     *
     * @param aheadMs see {@link LabSettings}
     */
    LabSettings settings(Scheduler scheduler, String namespace, long jobs, long aheadMs, int nodes, int shards) {
        return new LabSettings(
                scheduler,
                namespace,
                Arrivals.STEADY,
                jobs,
                warmup == null ? usualWarmup(rate) : warmup,
                rate,
                aheadMs,
                payload,
                nodes,
                producers,
                shards,
                slots,
                planted,
                0);
    }

    private static long usualWarmup(double rate) {
        if (LabSettings.compiler(rate) == WorkerProcess.Compiler.FULLY) {
            return Math.round(FULL_WARMUP_S * rate);
        }
        return Math.max(Math.round(WARMUP_S * rate), Math.min(1_000, Math.round(20 * rate)));
    }
}

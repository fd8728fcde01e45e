package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisInstance;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.HistogramLogWriter;
import org.jspecify.annotations.Nullable;

/** Measures one scheduler once: processes up, warm-up, the measured jobs, processes down, figures. For one thread. */
final class LabRun implements AutoCloseable {
    private static final long LOOK_MS = 100;

    /** Between looks into Redis: they cost it something. */
    private static final long LOOK_INTO_REDIS_MS = 1_000;

    /** How long Redis is watched without jobs before the first is sent. */
    private static final long IDLE_MS = 1_000;

    /** How long jobs may make no progress after the last was due, before the run ends without them. */
    private static final long QUIET_MS = 5_000;

    private static final long MINUTE_US = TimeUnit.MINUTES.toMicros(1);

    /** Whom a run lets look on; what it does takes time from the run, so it is short. */
    interface Observer {
        /** Processes are up and warm; nothing measured is sent yet. */
        default void begins(LabRun run) {}

        /** All jobs are sent and answered. */
        default void stored(LabRun run) {}

        /** Ten times a second from the beginning to the end. */
        default void looks(LabRun run) {}

        /** All jobs have started, or none does any more; the processes are still there. */
        default void ends(LabRun run) {}
    }

    private final String scenario;
    private final LabSettings settings;
    private final RedisInstance redis;
    private final double storeRate;
    private final Path logs;
    private final Observer observer;
    private final PrivateDirectory home;
    private final RedisMeter meter;
    private final RedisClock clock;
    private final LabProcesses processes;
    private final @Nullable RedisProbe probe;
    private final @Nullable BucketSizes buckets;
    private @Nullable LabVerdict verdict;
    private double mostDataBytes;
    private double idleCpuUsPerSecond;
    private long firstDueUs;

    /**
     * Prepares a run.
     *
     * @param storeRate jobs a second that are surely stored, for runs that store all before the first is due
     * @param logs a directory for the logs of the processes, if the run fails
     */
    LabRun(String scenario, LabSettings settings, RedisInstance redis, double storeRate, Path logs, Observer observer)
            throws IOException {
        this.scenario = scenario;
        this.settings = settings;
        this.redis = redis;
        this.storeRate = storeRate;
        this.logs = logs;
        this.observer = observer;
        this.home = PrivateDirectory.create("lab");
        settings.write(home.path());
        this.meter = RedisMeter.of(redis);
        this.clock = RedisClock.watch(
                redis instanceof RedisCluster cluster
                        ? cluster.primaries().get(0).connect()
                        : redis.connect());
        this.processes = new LabProcesses(home, redis, LabSettings.compiler(settings.rate()));
        this.probe = settings.scheduler() == Scheduler.MINUTEHAND
                ? new RedisProbe(
                        redis.connect(), settings.namespace(), List.of(Scheduler.Target.TOPIC), settings.shards())
                : null;
        this.buckets = probe == null ? null : new BucketSizes(probe);
    }

    LabProcesses processes() {
        return processes;
    }

    RedisMeter meter() {
        return meter;
    }

    /** Whether the first job is due already. */
    boolean isDue() {
        return clock.nowUs() >= firstDueUs;
    }

    /** Whether the last job is due already. */
    boolean isLastDue() {
        return clock.nowUs() >= settings.dueUs(settings.jobs() - 1, firstDueUs);
    }

    /**
     * Measures.
     *
     * @throws IllegalStateException if the run could not be made
     */
    SystemReport run() throws IOException, InterruptedException {
        try {
            SystemReport report = measure();
            if (!report.passed()) {
                processes.keepLogs(logs);
            }
            return report;
        } catch (IOException | RuntimeException e) {
            processes.keepLogs(logs);
            throw new IllegalStateException(
                    settings.scheduler().label() + " could not be measured: " + e.getMessage(), e);
        }
    }

    private SystemReport measure() throws IOException, InterruptedException {
        for (int i = 0; i < settings.workers(); i++) {
            processes.addWorker();
        }
        for (int i = 0; i < settings.producers(); i++) {
            processes.addProducer();
        }
        processes.awaitStart();
        warmUp();
        watchIdle();
        meter.watchSlow();
        processes.countCosts();
        observer.begins(this);
        double cpuBeforeUs = meter.cpuUs();
        double dataBefore = meter.dataBytes();
        long beganNs = System.nanoTime();
        firstDueUs = firstDueUs();
        Phase.MEASURED.begin(home.path(), firstDueUs);
        Double bytesAJob = null;
        if (settings.storesFirst()) {
            processes.await(
                    "all jobs to be stored",
                    storeMs() + LabProcesses.START_LIMIT_MS,
                    () -> processes.producersAre("done") || processes.ofProducers("failed") > 0);
            bytesAJob = (meter.dataBytes() - dataBefore) / settings.jobs();
            if (buckets != null) {
                buckets.lookAtStart();
            }
        }
        awaitEnd();
        observer.ends(this);
        double seconds = (System.nanoTime() - beganNs) / 1e9;
        double cpuUs = meter.cpuUs() - cpuBeforeUs;
        meter.noteSlow();
        List<String> failures = new ArrayList<>();
        if (processes.ofProducers("failed") > 0) {
            failures.add("a producer failed, see its log");
        }
        long clockErrorUs = processes.most("clock_error_us");
        SystemReport.Costs costs = new SystemReport.Costs(
                cpuUs,
                idleCpuUsPerSecond,
                seconds,
                bytesAJob,
                meter.slowestMs(),
                mostDataBytes,
                clockErrorUs,
                probe == null ? 0 : probe.dead(),
                processes.costs(),
                buckets == null ? null : buckets.found());
        failures.addAll(processes.stop());
        LabVerdict found = LabVerdict.of(home.path(), settings, firstDueUs, clockErrorUs);
        verdict = found;
        failures.addAll(found.failures());
        return SystemReport.of(scenario, settings, redis, found, costs, failures);
    }

    private void warmUp() throws IOException, InterruptedException {
        Phase.WARMUP.begin(home.path(), clock.nowUs() + settings.warmupAheadMs() * 1_000 + 500_000);
        long lastsMs = (long) (settings.warmupJobs() * 1_000 / settings.rate());
        processes.await(
                "the warm-up to end",
                lastsMs + storeMs() + LabProcesses.START_LIMIT_MS,
                () -> processes.producersAre("warm_done") && processes.ofWorkers("warm") >= settings.warmupJobs());
    }

    /** What Redis uses without a job, with the looks that a run takes: a part of what it will use with jobs. */
    private void watchIdle() throws InterruptedException {
        double beforeUs = meter.cpuUs();
        long beganNs = System.nanoTime();
        lookIntoRedis(-1);
        mostDataBytes = 0;
        Thread.sleep(IDLE_MS);
        idleCpuUsPerSecond = (meter.cpuUs() - beforeUs) * 1e9 / (System.nanoTime() - beganNs);
    }

    private void lookIntoRedis(double seconds) {
        mostDataBytes = Math.max(mostDataBytes, meter.dataBytes());
        meter.noteSlow();
        if (probe != null && buckets != null) {
            if (seconds == -1) {
                probe.waiting();
            } else {
                buckets.look(seconds);
            }
        }
    }

    private long storeMs() {
        return settings.storesFirst() ? (long) (settings.jobs() * 1_000 / storeRate) : 0;
    }

    private long firstDueUs() {
        long us = clock.nowUs() + 500_000 + settings.aheadMs() * 1_000 + storeMs() * 1_000;
        long stepUs = settings.arrivals() == Arrivals.HOT_MINUTE ? MINUTE_US : 1_000;
        return Math.floorDiv(us + stepUs - 1, stepUs) * stepUs;
    }

    private void awaitEnd() throws InterruptedException {
        long lastDueNs = clock.nanoTimeAt(settings.dueUs(settings.jobs() - 1, firstDueUs));
        long quietSinceNs = lastDueNs;
        long lookedNs = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(LOOK_INTO_REDIS_MS);
        long startedBefore = -1;
        boolean stored = false;
        boolean lookedAtFirstDue = false;
        while (true) {
            processes.requireAlive();
            boolean first = !lookedAtFirstDue && isDue();
            if (first || System.nanoTime() - lookedNs >= TimeUnit.MILLISECONDS.toNanos(LOOK_INTO_REDIS_MS)) {
                lookedNs = System.nanoTime();
                lookedAtFirstDue |= first;
                lookIntoRedis((clock.nowUs() - firstDueUs) / 1e6);
            }
            observer.looks(this);
            boolean sent = processes.producersAre("done") || processes.ofProducers("failed") > 0;
            if (sent && !stored) {
                stored = true;
                observer.stored(this);
            }
            long started = processes.ofWorkers("started");
            if (sent && started >= processes.ofProducers("stored")) {
                lookIntoRedis((clock.nowUs() - firstDueUs) / 1e6);
                return;
            }
            long nowNs = System.nanoTime();
            if (started != startedBefore || nowNs - lastDueNs < 0) {
                startedBefore = started;
                quietSinceNs = nowNs;
            } else if (nowNs - quietSinceNs > TimeUnit.MILLISECONDS.toNanos(QUIET_MS)) {
                return;
            }
            Thread.sleep(LOOK_MS);
        }
    }

    /**
     * Writes the lateness of the run: percentiles as {@code .hgrm}, and a histogram a second as {@code .hlog}, both in
     * milliseconds.
     */
    void writeHistograms(Path directory, String name) throws IOException {
        LabVerdict found = verdict;
        if (found == null) {
            throw new IllegalStateException("nothing was measured yet");
        }
        Files.createDirectories(directory);
        try (PrintStream out = new PrintStream(directory.resolve(name + ".hgrm").toFile(), StandardCharsets.UTF_8)) {
            found.latenessUs().outputPercentileDistribution(out, 1_000.0);
        }
        try (PrintStream out = new PrintStream(directory.resolve(name + ".hlog").toFile(), StandardCharsets.UTF_8)) {
            HistogramLogWriter log = new HistogramLogWriter(out);
            log.outputLogFormatVersion();
            log.outputComment("lateness in microseconds, a histogram a second from the first due time");
            log.outputLegend();
            for (int i = 0; i < found.seconds().size(); i++) {
                log.outputIntervalHistogram(i, i + 1, found.seconds().get(i).latenessUs, 1_000.0);
            }
        }
    }

    @Override
    public void close() throws IOException {
        clock.close();
        meter.close();
        if (probe != null) {
            probe.close();
        }
        // Its processes end with it.
        home.close();
    }
}

package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.lab.LabVerdict.Second;
import io.minutehand.loadtest.lab.SystemReport.Boundary;
import io.minutehand.loadtest.lab.SystemReport.LatenessMs;
import io.minutehand.loadtest.lab.SystemReport.PercentileRow;
import io.minutehand.loadtest.lab.SystemReport.ProcessRow;
import io.minutehand.loadtest.lab.SystemReport.SecondRow;
import io.minutehand.redis.PrivateDirectory;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.jspecify.annotations.Nullable;

/** Measures one scheduler once: processes up, warm-up, the measured jobs, processes down, figures. For one thread. */
final class LabRun implements AutoCloseable {
    private static final int WORKER_HEAP_MB = 256;
    private static final int PRODUCER_HEAP_MB = 512;
    private static final long LOOK_MS = 20;
    private static final long START_LIMIT_MS = 60_000;

    /** How long jobs may make no progress after the last was due, before the run ends without them. */
    private static final long QUIET_MS = 5_000;

    private static final long MINUTE_US = TimeUnit.MINUTES.toMicros(1);

    /** Calls to Redis that took longer are looked up afterwards, microseconds. */
    private static final int SLOW_US = 1_000;

    private static final String SLOW_SETTING = "slowlog-log-slower-than";

    private final String scenario;
    private final LabSettings settings;
    private final RedisInstance redis;
    private final double storeRate;
    private final PrivateDirectory home;
    private final Path workDir;
    private final RedisCommands commands;
    private final RedisClock clock;
    private final Fleet workers;
    private final List<WorkerProcess> producers = new ArrayList<>();
    private final Map<String, WorkerLine.Status> before = new HashMap<>();
    private @Nullable LabVerdict verdict;
    private double mostMemoryBytes;

    /**
     * Prepares a run.
     *
     * @param storeRate jobs a second that are surely stored, for runs that store all before the first is due
     */
    LabRun(String scenario, LabSettings settings, RedisInstance redis, double storeRate) throws IOException {
        this.scenario = scenario;
        this.settings = settings;
        this.redis = redis;
        this.storeRate = storeRate;
        this.home = PrivateDirectory.create("lab");
        this.workDir = home.path();
        settings.write(workDir);
        this.commands = redis.connect();
        this.clock = RedisClock.watch(redis.connect());
        this.workers = new Fleet(home, workDir, kind("lab-worker", WORKER_HEAP_MB));
    }

    private WorkerProcess.Kind kind(String command, int heapMb) {
        return new WorkerProcess.Kind(
                command,
                heapMb,
                name -> Stream.concat(
                                Stream.of("--name", name, "--work-dir", workDir.toString()),
                                name.startsWith("producer-")
                                        ? Stream.of("--index", name.substring("producer-".length()))
                                        : Stream.of())
                        .toList(),
                name -> Map.of(LabProcess.REDIS_VARIABLE, redis.uri()));
    }

    /**
     * Measures.
     *
     * @throws IllegalStateException if the run could not be made
     */
    SystemReport run() throws IOException, InterruptedException {
        String slowBefore = commands.texts("CONFIG", "GET", SLOW_SETTING).get(1);
        commands.call("CONFIG", "SET", SLOW_SETTING, SLOW_US);
        try {
            return measure();
        } catch (IOException | RuntimeException e) {
            throw new IllegalStateException(
                    settings.scheduler().label() + " could not be measured: " + e.getMessage() + "; logs are in "
                            + keepEvidence(),
                    e);
        } finally {
            restore(slowBefore);
        }
    }

    private void restore(String slowBefore) {
        try {
            commands.call("CONFIG", "SET", SLOW_SETTING, slowBefore);
        } catch (RuntimeException gone) {
            // With Redis itself: what made the run fail says so.
        }
    }

    /** Copies the logs of the processes to where they survive. */
    private Path keepEvidence() throws IOException {
        Path kept = Files.createTempDirectory("minutehand-lab-failed-");
        try (Stream<Path> files = Files.list(workDir)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".log")).toList()) {
                Files.copy(file, kept.resolve(file.getFileName()));
            }
        }
        return kept;
    }

    private SystemReport measure() throws IOException, InterruptedException {
        List<String> failures = new ArrayList<>();
        launch();
        warmUp();
        commands.call("SLOWLOG", "RESET");
        all().forEach(process -> before.put(process.name(), process.status()));
        double cpuBeforeUs = cpuUs();
        double memoryBefore = memoryBytes();
        long firstDueUs = firstDueUs();
        Phase.MEASURED.begin(workDir, firstDueUs);
        Double bytesAJob = null;
        if (settings.storesFirst()) {
            await(
                    "all jobs to be stored",
                    storeMs() + START_LIMIT_MS,
                    () -> sum(producers, "done") == producers.size());
            bytesAJob = (memoryBytes() - memoryBefore) / settings.jobs();
        }
        awaitEnd(firstDueUs);
        double cpuUs = cpuUs() - cpuBeforeUs;
        Double slowestMs = slowestMs();
        List<ProcessRow> costs = all().stream().map(this::costs).toList();
        long clockErrorUs = all().stream()
                .mapToLong(process -> process.status().count("clock_error_us"))
                .max()
                .orElse(0);
        if (sum(producers, "failed") > 0) {
            failures.add("a producer failed, see its log");
        }
        failures.addAll(stop());
        LabVerdict found = LabVerdict.of(workDir, settings, firstDueUs, clockErrorUs);
        verdict = found;
        judge(found, failures);
        return report(found, cpuUs, bytesAJob, slowestMs, clockErrorUs, costs, failures);
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

    private List<WorkerProcess> all() {
        return Stream.concat(workers.workers().stream(), producers.stream()).toList();
    }

    private static long sum(List<WorkerProcess> processes, String count) {
        return processes.stream()
                .mapToLong(process -> process.status().count(count))
                .sum();
    }

    private void launch() throws InterruptedException {
        for (int i = 0; i < settings.workers(); i++) {
            workers.add();
        }
        for (int i = 0; i < settings.producers(); i++) {
            String name = "producer-" + i;
            producers.add(WorkerProcess.start(
                    name,
                    home,
                    kind("lab-producer", PRODUCER_HEAP_MB),
                    workDir.resolve(name + ".err.log"),
                    unused -> {}));
        }
        await("all processes to start", START_LIMIT_MS, () -> all().stream().allMatch(each -> each.nodeId() != null));
    }

    private void warmUp() throws IOException, InterruptedException {
        Phase.WARMUP.begin(workDir, clock.nowUs() + settings.aheadMs() * 1_000 + 500_000);
        long lastsMs = (long) (settings.warmupJobs() * 1_000 / settings.rate());
        await(
                "the warm-up to end",
                lastsMs + storeMs() + START_LIMIT_MS,
                () -> sum(producers, "warm_done") == producers.size()
                        && sum(workers.workers(), "warm") >= settings.warmupJobs());
    }

    private long storeMs() {
        return settings.storesFirst() ? (long) (settings.jobs() * 1_000 / storeRate) : 0;
    }

    private long firstDueUs() {
        long us = clock.nowUs() + 500_000 + settings.aheadMs() * 1_000 + storeMs() * 1_000;
        long stepUs = settings.arrivals() == Arrivals.HOT_MINUTE ? MINUTE_US : 1_000;
        return Math.floorDiv(us + stepUs - 1, stepUs) * stepUs;
    }

    private void awaitEnd(long firstDueUs) throws InterruptedException {
        long lastDueNs = clock.nanoTimeAt(settings.dueUs(settings.jobs() - 1, firstDueUs));
        long quietSinceNs = lastDueNs;
        long startedBefore = -1;
        while (true) {
            requireAlive();
            mostMemoryBytes = Math.max(mostMemoryBytes, memoryBytes());
            long started = sum(workers.workers(), "started");
            boolean sent = sum(producers, "done") == producers.size() || sum(producers, "failed") > 0;
            if (sent && started >= sum(producers, "stored")) {
                return;
            }
            long nowNs = System.nanoTime();
            if (started != startedBefore || nowNs - lastDueNs < 0) {
                startedBefore = started;
                quietSinceNs = nowNs;
            } else if (nowNs - quietSinceNs > TimeUnit.MILLISECONDS.toNanos(QUIET_MS)) {
                return;
            }
            Thread.sleep(5 * LOOK_MS);
        }
    }

    private void requireAlive() {
        for (WorkerProcess process : all()) {
            if (!process.isAlive()) {
                throw new IllegalStateException(process.name() + " ended by itself");
            }
        }
    }

    private void await(String what, long limitMs, BooleanSupplier condition) throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
        while (!condition.getAsBoolean()) {
            requireAlive();
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException("waited " + limitMs + " ms for " + what + " in vain; "
                        + all().stream()
                                .map(each -> each.name() + " " + each.status())
                                .toList());
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private List<String> stop() throws InterruptedException {
        List<String> problems = new ArrayList<>();
        for (WorkerProcess producer : producers) {
            producer.stop();
            if (producer.awaitEnd(START_LIMIT_MS) == null) {
                producer.kill();
                problems.add(producer.name() + " did not stop and was killed");
            }
        }
        problems.addAll(workers.stop());
        return problems;
    }

    private double cpuUs() {
        return cpuUs(commands);
    }

    /** CPU time of a server since it started, user and system, microseconds. */
    static double cpuUs(RedisCommands server) {
        Map<String, String> cpu = server.info("cpu");
        return 1e6
                * (Double.parseDouble(cpu.getOrDefault("used_cpu_user", "0"))
                        + Double.parseDouble(cpu.getOrDefault("used_cpu_sys", "0")));
    }

    /** What Redis uses for data: buffers of clients and of the append-only file come and go. */
    private double memoryBytes() {
        Map<String, String> memory = commands.info("memory");
        return bytes(memory, "used_memory") - bytes(memory, "mem_clients_normal") - bytes(memory, "mem_aof_buffer");
    }

    private static double bytes(Map<String, String> memory, String field) {
        return Double.parseDouble(memory.getOrDefault(field, "0"));
    }

    /** The slowest call in the log, ms; null if there is none. */
    private @Nullable Double slowestMs() {
        long slowestUs = 0;
        if (commands.call("SLOWLOG", "GET", 128) instanceof List<?> entries) {
            for (Object entry : entries) {
                if (entry instanceof List<?> fields && fields.get(2) instanceof Long us) {
                    slowestUs = Math.max(slowestUs, us);
                }
            }
        }
        return slowestUs == 0 ? null : (Double) (slowestUs / 1e3);
    }

    private ProcessRow costs(WorkerProcess process) {
        WorkerLine.Status then = before.getOrDefault(process.name(), WorkerLine.Status.NONE);
        WorkerLine.Status now = process.status();
        return new ProcessRow(
                process.name(),
                (now.count("cpu_us") - then.count("cpu_us")) / 1e6,
                now.count("gc_ms") - then.count("gc_ms"),
                now.count("gcs") - then.count("gcs"),
                now.count("heap_after_gc_kb") / 1_024.0,
                now.count("threads"));
    }

    private void judge(LabVerdict verdict, List<String> failures) {
        fail(failures, verdict.lost(), "jobs were stored and never started");
        fail(failures, verdict.duplicates(), "starts were repetitions");
        fail(failures, verdict.early(), "jobs started early");
        fail(failures, verdict.unexpected(), "events belong to no job that was sent");
        fail(failures, settings.jobs() - verdict.sent(), "jobs were not sent");
        fail(failures, verdict.sent() - verdict.stored(), "jobs were not stored");
        if (settings.storesFirst() && !verdict.wasStoredFirst()) {
            failures.add("the last job was stored after the first was due: choose a lower --store-rate");
        }
    }

    private static void fail(List<String> failures, long count, String what) {
        if (count != 0) {
            failures.add(count + " " + what);
        }
    }

    private SystemReport report(
            LabVerdict verdict,
            double cpuUs,
            @Nullable Double bytesAJob,
            @Nullable Double slowestMs,
            long clockErrorUs,
            List<ProcessRow> costs,
            List<String> failures) {
        return new SystemReport(
                settings.scheduler().label(),
                scenario,
                settings.workers(),
                1,
                settings.shards(),
                settings.jobs(),
                settings.rate(),
                redis.version(),
                redis.kind().label(),
                verdict.stored(),
                rounded(verdict.storedPerSecond()),
                verdict.started() + verdict.duplicates(),
                verdict.started(),
                0,
                verdict.lost(),
                verdict.duplicates(),
                verdict.early(),
                LatenessMs.of(verdict.latenessUs()),
                PercentileRow.curve(verdict.latenessUs()),
                new Boundary(
                        p99(verdict.atBoundariesUs()),
                        p99(verdict.elsewhereUs()),
                        verdict.atBoundariesUs().getTotalCount()),
                null,
                rounded(verdict.startedPerSecond()),
                rounded(cpuUs / settings.jobs()),
                bytesAJob == null ? null : (Double) rounded(bytesAJob),
                settings.warmupJobs(),
                rounded(verdict.seconds(settings.storesFirst())),
                verdict.refused(),
                verdict.unexpected(),
                settings.storesFirst(),
                settings.storesFirst() ? null : (Double) rounded(verdict.latestSentMs()),
                clockErrorUs,
                slowestMs,
                rounded(mostMemoryBytes / (1 << 20)),
                costs,
                timeline(verdict.seconds()),
                settings.toString(),
                List.copyOf(failures));
    }

    private static @Nullable Double p99(Histogram us) {
        return us.getTotalCount() == 0 ? null : (Double) SystemReport.ms(us, 99);
    }

    private static List<SecondRow> timeline(List<Second> seconds) {
        List<SecondRow> rows = new ArrayList<>();
        for (int i = 0; i < seconds.size(); i++) {
            Histogram us = seconds.get(i).latenessUs;
            boolean none = us.getTotalCount() == 0;
            rows.add(new SecondRow(
                    i,
                    none ? null : (Double) SystemReport.ms(us, 50),
                    none ? null : (Double) SystemReport.ms(us, 99),
                    none ? null : (Double) (us.getMaxValue() / 1e3),
                    seconds.get(i).stored,
                    seconds.get(i).started));
        }
        return rows;
    }

    private static double rounded(double figure) {
        return Math.round(figure * 1_000) / 1_000.0;
    }

    @Override
    public void close() throws IOException {
        clock.close();
        commands.close();
        // Its processes end with it.
        home.close();
    }
}

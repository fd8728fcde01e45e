package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.lab.SystemReport.ProcessRow;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisInstance;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** The processes of a run: workers, and producers. For one thread. */
final class LabProcesses {
    static final long START_LIMIT_MS = 60_000;

    private static final int WORKER_HEAP_MB = 256;
    private static final int PRODUCER_HEAP_MB = 512;
    private static final long LOOK_MS = 20;

    private final PrivateDirectory home;
    private final Map<String, String> environment;
    private final WorkerProcess.Compiler compiler;
    private final Fleet workers;
    private final List<WorkerProcess> producers = new ArrayList<>();
    private final Map<String, WorkerLine.Status> before = new HashMap<>();

    /**
     * None yet.
     *
     * @param home where they run and write: it holds the settings already
     * @param compiler how they compile
     */
    LabProcesses(PrivateDirectory home, RedisInstance redis, WorkerProcess.Compiler compiler) {
        this.home = home;
        this.compiler = compiler;
        String clock = redis instanceof RedisCluster cluster
                ? cluster.primaries().get(0).uri()
                : redis.uri();
        this.environment = Map.of(LabProcess.REDIS_VARIABLE, redis.uri(), LabProcess.CLOCK_VARIABLE, clock);
        this.workers = new Fleet(home, home.path(), kind("lab-worker", WORKER_HEAP_MB, List.of()));
    }

    private WorkerProcess.Kind kind(String command, int heapMb, List<String> more) {
        return new WorkerProcess.Kind(
                command,
                heapMb,
                compiler,
                name -> Stream.concat(
                                Stream.of(
                                        "--name",
                                        name,
                                        "--work-dir",
                                        home.path().toString()),
                                more.stream())
                        .toList(),
                name -> environment);
    }

    /** Starts a worker; does not wait for it. */
    void addWorker() {
        workers.add();
    }

    /** Starts the next producer; does not wait for it. */
    void addProducer() {
        int index = producers.size();
        addProducer("producer-" + index, "lab-producer", PRODUCER_HEAP_MB, List.of("--index", Integer.toString(index)));
    }

    /** Starts a producer of another kind; does not wait for it. */
    WorkerProcess addProducer(String name, String command, int heapMb, List<String> arguments) {
        Path log = home.path().resolve(name + ".err.log");
        WorkerProcess producer = WorkerProcess.start(name, home, kind(command, heapMb, arguments), log, unused -> {});
        producers.add(producer);
        return producer;
    }

    List<WorkerProcess> workers() {
        return workers.workers();
    }

    List<WorkerProcess> producers() {
        return producers;
    }

    List<WorkerProcess> all() {
        return Stream.concat(workers.workers().stream(), producers.stream()).toList();
    }

    /** What workers count under a name, together. */
    long ofWorkers(String count) {
        return sum(workers.workers(), count);
    }

    /** What producers count under a name, together. */
    long ofProducers(String count) {
        return sum(producers, count);
    }

    private static long sum(List<WorkerProcess> processes, String count) {
        return processes.stream()
                .mapToLong(process -> process.status().count(count))
                .sum();
    }

    /** Whether every producer has come to a mark. */
    boolean producersAre(String mark) {
        return ofProducers(mark) == producers.size();
    }

    /** The most that a process counts under a name. */
    long most(String count) {
        return all().stream()
                .mapToLong(process -> process.status().count(count))
                .max()
                .orElse(0);
    }

    void awaitStart() throws InterruptedException {
        await("all processes to start", START_LIMIT_MS, () -> all().stream().allMatch(each -> each.nodeId() != null));
    }

    /** @throws IllegalStateException if it takes too long, or a process ends meanwhile */
    void await(String what, long limitMs, BooleanSupplier condition) throws InterruptedException {
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

    /** @throws IllegalStateException if a process has ended */
    void requireAlive() {
        for (WorkerProcess process : all()) {
            if (!process.isAlive()) {
                throw new IllegalStateException(process.name() + " ended by itself");
            }
        }
    }

    /** What processes cost is counted from now on. */
    void countCosts() {
        all().forEach(process -> before.put(process.name(), process.status()));
    }

    /** What each process has cost since then. */
    List<ProcessRow> costs() {
        return all().stream()
                .map(process -> {
                    WorkerLine.Status then = before.getOrDefault(process.name(), WorkerLine.Status.NONE);
                    WorkerLine.Status now = process.status();
                    return new ProcessRow(
                            process.name(),
                            (now.count("cpu_us") - then.count("cpu_us")) / 1e6,
                            now.count("gc_ms") - then.count("gc_ms"),
                            now.count("gcs") - then.count("gcs"),
                            now.count("heap_after_gc_kb") / 1_024.0,
                            now.count("threads"));
                })
                .toList();
    }

    /** Copies what they logged: the place where they run goes with them. */
    void keepLogs(Path directory) throws IOException {
        Files.createDirectories(directory);
        try (Stream<Path> files = Files.list(home.path())) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".log")).toList()) {
                Files.copy(file, directory.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** Ends all, producers first; returns what went wrong, one sentence each. */
    List<String> stop() throws InterruptedException {
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
}

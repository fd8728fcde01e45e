package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.Harness;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.redis.RedisCommands;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Option;

/** What producers and workers of the lab have in common: options, clock, trace, status lines, and the way to end. */
abstract class LabProcess implements Callable<Integer> {
    /** The variable with the address of Redis: arguments show in process lists. */
    static final String REDIS_VARIABLE = "MINUTEHAND_LAB_REDIS";

    /** The variable with the address of a single server, whose clock is the run's. */
    static final String CLOCK_VARIABLE = "MINUTEHAND_LAB_CLOCK";

    private static final long STATUS_MS = 100;

    @Option(names = "--name", required = true)
    private String name = "";

    @Option(names = "--work-dir", required = true)
    private Path workDir = Path.of("");

    @Option(names = "--redis", required = true, defaultValue = "${env:" + REDIS_VARIABLE + "}")
    private String redis = "";

    @Option(names = "--clock", required = true, defaultValue = "${env:" + CLOCK_VARIABLE + "}")
    private String clockOf = "";

    private volatile boolean stopping;

    String name() {
        return name;
    }

    Path workDir() {
        return workDir;
    }

    String redis() {
        return redis;
    }

    /** Whether the process was told to end. */
    boolean stopping() {
        return stopping;
    }

    @Override
    public final Integer call() throws Exception {
        LogFile.use(workDir.resolve(name + ".log"));
        Thread.currentThread().setName("status");
        LabSettings settings = LabSettings.read(workDir);
        Harness.listen(() -> stopping = true);
        try (RedisClock clock = RedisClock.watch(RedisCommands.connect(clockOf));
                Trace trace = Trace.create(workDir, name)) {
            if (settings.jobs() == 0) {
                // Nothing is timed, and what its samples cost would be taken for the product's.
                clock.close();
            }
            try (AutoCloseable work = start(settings, clock, trace)) {
                HeapAfterCollection heap = new HeapAfterCollection(settings.collectEveryMs());
                while (!stopping) {
                    heap.look();
                    Map<String, Long> counts = new HashMap<>(ProcessCosts.now());
                    counts.put("live_kb", heap.liveKb());
                    counts.put("clock_error_us", clock.errorUs());
                    counts.putAll(counts());
                    Harness.tell(new WorkerLine.Status(name, 0, 0, counts));
                    trace.flush();
                    Thread.sleep(STATUS_MS);
                }
            }
        }
        return 0;
    }

    /** Begins the work; it ends when what this returns is closed. */
    abstract AutoCloseable start(LabSettings settings, RedisClock clock, Trace trace) throws Exception;

    /** Counts of its own, by a name of letters. */
    abstract Map<String, Long> counts();
}

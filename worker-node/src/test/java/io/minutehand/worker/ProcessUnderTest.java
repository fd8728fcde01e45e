package io.minutehand.worker;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.source.Executables;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A running {@link WorkerProcess}, and its files. It is gone with this JVM, however that ends. */
final class ProcessUnderTest implements AutoCloseable {
    /** A start of a handler in the process; times by the clock of Redis. */
    record Start(String id, int attempt, int delivery, long dueMs, long startedMs, String nodeId) {}

    /** What the node said of itself. */
    record Stats(
            String nodeId, boolean ready, int ownedShards, int heldBuckets, long stale, long fenced, long leaseLost) {}

    private final JavaProcess process;

    private ProcessUnderTest(JavaProcess process) {
        this.process = process;
    }

    static ProcessUnderTest start(
            String redisUri, RedisOptions redis, String topic, String settings, WorkerProcess.HoldAt holdAt) {
        return new ProcessUnderTest(JavaProcess.start(
                "worker",
                WorkerProcess.class,
                Map.of("TEST_REDIS", redisUri, "TEST_NAMESPACE", redis.namespace()),
                topic,
                settings,
                holdAt.name()));
    }

    /** SIGKILL; returns when it is gone. */
    void kill() {
        process.kill();
    }

    /** SIGTERM. */
    void terminate() {
        process.process().destroy();
    }

    /** Waits for its end and returns the exit status; -1 when it has not ended in time. */
    int exit(long timeoutMs) throws InterruptedException {
        return process.process().waitFor(timeoutMs, TimeUnit.MILLISECONDS)
                ? process.process().exitValue()
                : -1;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void signal(String name) {
        Executables.signal(process.process(), name);
    }

    List<Start> starts() {
        return process.lines("starts").stream()
                .map(line -> line.split(" ", -1))
                .map(words -> new Start(
                        words[0],
                        Integer.parseInt(words[1]),
                        Integer.parseInt(words[2]),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4]),
                        words[5]))
                .toList();
    }

    /** Jobs whose handlers ended. */
    List<String> ends() {
        return process.lines("ends").stream()
                .map(line -> line.split(" ", -1)[0])
                .toList();
    }

    /** How many jobs are held. */
    int held() {
        return process.lines("held").size();
    }

    List<Stats> stats() {
        return process.lines("stats").stream()
                .map(line -> line.split(" ", -1))
                .map(words -> new Stats(
                        words[0],
                        Boolean.parseBoolean(words[1]),
                        Integer.parseInt(words[2]),
                        Integer.parseInt(words[3]),
                        Long.parseLong(words[4]),
                        Long.parseLong(words[5]),
                        Long.parseLong(words[6])))
                .toList();
    }

    /** The last that the node said, or what it is before it says anything. */
    Stats lastStats() {
        List<Stats> all = stats();
        return all.isEmpty() ? new Stats("", false, 0, 0, 0, 0, 0) : all.get(all.size() - 1);
    }

    String log() {
        return process.log();
    }

    @Override
    public void close() {
        process.close();
    }
}

package io.minutehand.worker;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.redis.PrivateDirectory;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A running {@link WorkerProcess}, and its files. It is gone with this JVM, however that ends. */
final class ProcessUnderTest implements AutoCloseable {
    /** A start of a handler in the process; times by the clock of Redis. */
    record Start(String id, int attempt, int delivery, long dueMs, long startedMs, String nodeId) {}

    /** What the node said of itself. */
    record Stats(String nodeId, boolean ready, int heldBuckets, long stale, long fenced, long leaseLost) {}

    private final PrivateDirectory home;
    private final Process process;

    private ProcessUnderTest(PrivateDirectory home, Process process) {
        this.home = home;
        this.process = process;
    }

    static ProcessUnderTest start(
            String redisUri, RedisOptions redis, String topic, String settings, WorkerProcess.HoldAt holdAt) {
        PrivateDirectory home = PrivateDirectory.create("worker");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath(),
                WorkerProcess.class.getName(),
                home.path().toString(),
                topic,
                settings,
                holdAt.name());
        builder.environment().put("TEST_REDIS", redisUri);
        builder.environment().put("TEST_NAMESPACE", redis.namespace());
        builder.redirectErrorStream(true)
                .redirectOutput(home.path().resolve("log").toFile());
        return new ProcessUnderTest(home, home.start(builder));
    }

    private static String classPath() {
        return String.join(
                File.pathSeparator,
                List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1)).stream()
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }

    /** SIGKILL; returns when it is gone. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    /** Waits for its end and returns the exit status; -1 when it has not ended in time. */
    int exit(long timeoutMs) throws InterruptedException {
        return process.waitFor(timeoutMs, TimeUnit.MILLISECONDS) ? process.exitValue() : -1;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + process.pid()).start();
        if (kill.waitFor() != 0) {
            throw new IllegalStateException("SIG" + name + " did not reach " + process.pid());
        }
    }

    List<Start> starts() {
        return lines("starts").stream()
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
        return lines("ends").stream().map(line -> line.split(" ", -1)[0]).toList();
    }

    /** How many jobs are held. */
    int held() {
        return lines("held").size();
    }

    List<Stats> stats() {
        return lines("stats").stream()
                .map(line -> line.split(" ", -1))
                .map(words -> new Stats(
                        words[0],
                        Boolean.parseBoolean(words[1]),
                        Integer.parseInt(words[2]),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4]),
                        Long.parseLong(words[5])))
                .toList();
    }

    /** The last that the node said, or what it is before it says anything. */
    Stats lastStats() {
        List<Stats> all = stats();
        return all.isEmpty() ? new Stats("", false, 0, 0, 0, 0) : all.get(all.size() - 1);
    }

    String log() {
        return String.join("\n", lines("log"));
    }

    /** Whole lines of a file. */
    private List<String> lines(String file) {
        Path path = home.path().resolve(file);
        try {
            if (!Files.exists(path)) {
                return List.of();
            }
            String text = Files.readString(path, StandardCharsets.UTF_8);
            return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        kill();
        home.close();
    }
}

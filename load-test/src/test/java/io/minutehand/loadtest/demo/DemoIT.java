package io.minutehand.loadtest.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The demo as a user runs it: a process that starts others. Speed is not judged here. */
@Execution(ExecutionMode.CONCURRENT)
class DemoIT {
    private static final Duration LIMIT = Duration.ofSeconds(120);

    @TempDir
    Path directory;

    private Process demo;
    private Process launcher;

    @AfterEach
    void endWhatWasStarted() {
        for (Process process : new Process[] {demo, launcher}) {
            if (process != null) {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void shouldRunAllJobsOnThreeProcessesAndReport() throws Exception {
        Path json = directory.resolve("demo.json");
        Path workDir = directory.resolve("work");
        start("--jobs", "900", "--rate", "300", "--json", json.toString(), "--work-dir", workDir.toString());
        List<ProcessHandle> started = awaitWorkers(3);

        assertThat(demo.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).as(this::output).isZero();

        JsonNode report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.get("nodes").asInt()).isEqualTo(3);
        assertThat(report.get("jobs").asInt()).isEqualTo(900);
        assertThat(report.get("scheduled").asInt()).isEqualTo(900);
        assertThat(report.get("done").asInt() + report.get("dead").asInt()).isEqualTo(900);
        assertThat(report.get("dead").asInt()).isPositive();
        assertThat(report.get("started").asInt()).isGreaterThan(900);
        assertThat(report.get("lost").asInt()).isZero();
        assertThat(report.get("duplicates").asInt()).isZero();
        assertThat(report.get("early").asInt()).isZero();
        assertThat(report.get("perNode")).hasSize(3);
        assertThat(report.get("bytesPerPendingJob").asDouble()).isBetween(100.0, 2_000.0);
        assertThat(report.get("redisCpuUsPerJob").asDouble()).isPositive();
        assertThat(output()).contains("PASSED: of 900 jobs lost 0, run twice 0, early 0", "Redis: source=");
        try (Stream<Path> files = Files.list(workDir)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .contains(
                            "demo.ledger", "node-1.ledger", "node-2.ledger", "node-3.ledger", "demo.log", "node-1.log");
        }
        assertGone(started);
    }

    @Test
    void shouldLoseNothingWhenANodeIsKilled() throws Exception {
        Path json = directory.resolve("demo.json");
        start("--nodes", "2", "--jobs", "1800", "--rate", "200", "--kill-node-at", "3", "--json", json.toString());

        assertThat(demo.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).as(this::output).isZero();

        JsonNode report = new ObjectMapper().readTree(json.toFile());
        JsonNode fault = report.get("fault");
        assertThat(report.get("lost").asInt()).isZero();
        assertThat(report.get("early").asInt()).isZero();
        assertThat(fault.get("at").asDouble()).isGreaterThanOrEqualTo(3);
        assertThat(fault.get("inFlight").asInt()).isPositive();
        assertThat(fault.get("bucketsHeld").asInt()).isPositive();
        assertThat(report.get("duplicates").asInt())
                .isLessThanOrEqualTo(fault.get("inFlight").asInt());
        assertThat(output()).contains("killed (SIGKILL)");
    }

    @Test
    void shouldShareTheJobsWithANodeThatJoins() throws Exception {
        Path json = directory.resolve("demo.json");
        start("--nodes", "1", "--jobs", "3000", "--rate", "150", "--add-node-at", "1", "--json", json.toString());

        assertThat(demo.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).as(this::output).isZero();

        JsonNode report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.get("added").get("node").asText()).isEqualTo("node-2");
        assertThat(report.get("duplicates").asInt()).isZero();
    }

    @Test
    void shouldSeeAJobThatVanishesFromRedis() throws Exception {
        Path json = directory.resolve("demo.json");
        try (RedisInstance server = RedisServer.start();
                RedisCommands redis = server.connect()) {
            start("--redis", server.uri(), "--nodes", "1", "--jobs", "600", "--rate", "100", "--json", json.toString());
            await().atMost(LIMIT).until(() -> !demo.isAlive() || removeAJobThatIsNotYetDue(redis));
            assertThat(demo.isAlive()).as(this::output).isTrue();

            assertThat(demo.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            // The keys of the run are gone from a server that was there before it.
            assertThat(redis.texts("KEYS", "*")).isEmpty();
        }

        assertThat(demo.exitValue()).as(this::output).isEqualTo(1);
        JsonNode report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.get("lost").asInt()).isEqualTo(1);
        assertThat(report.get("done").asInt() + report.get("dead").asInt()).isEqualTo(599);
        assertThat(report.get("redisSource").asText()).isEqualTo("address");
        assertThat(output()).contains("FAILED: of 600 jobs lost 1", "1 lost, for example report:");
        try (Stream<Path> kept = Files.list(directory.resolve("tmp"))) {
            assertThat(kept.map(path -> path.getFileName().toString()))
                    .anyMatch(name -> name.startsWith("minutehand-demo-failed-"));
        }
    }

    /** Takes a pending job of the slow topic out of its bucket and its record away, as no correct server would. */
    private static boolean removeAJobThatIsNotYetDue(RedisCommands redis) {
        for (String bucket : redis.texts("KEYS", "*{report.render:*:b:*")) {
            List<String> last = redis.texts("ZREVRANGE", bucket, 0, 0, "WITHSCORES");
            if (!last.isEmpty() && Double.parseDouble(last.get(1)) > System.currentTimeMillis() + 1_500) {
                String member = last.get(0);
                String records = bucket.substring(0, bucket.lastIndexOf(":b:")) + ":r:" + member.charAt(0);
                return redis.number("ZREM", bucket, member) + redis.number("HDEL", records, member) == 2;
            }
        }
        return false;
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM", "KILL", "none"})
    void shouldLeaveNothingBehindWhenItIsEnded(String signal) throws Exception {
        // As the script does that started it; with "none" it is the script that somebody kills.
        launcher = new ProcessBuilder("sleep", "1000").start();
        start("--nodes", "1", "--jobs", "100000", "--rate", "200");
        List<ProcessHandle> started = awaitWorkers(1);
        List<Path> directories = temporaryDirectories();
        assertThat(directories).isNotEmpty();

        if (signal.equals("none")) {
            launcher.destroyForcibly();
        } else {
            assertThat(new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + demo.pid())
                            .start()
                            .waitFor())
                    .isZero();
        }

        assertThat(demo.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).isNotZero();
        assertThat(output().contains("interrupted")).isEqualTo(!signal.equals("KILL"));
        assertThat(output()).doesNotContain("gone away");
        assertGone(started);
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(directories).noneMatch(Files::exists));
    }

    @Test
    void shouldSaySoWhenItsRedisIsGone() throws Exception {
        start("--nodes", "1", "--jobs", "100000", "--rate", "200");
        List<ProcessHandle> started = awaitWorkers(1);
        List<Path> directories = temporaryDirectories();
        await().atMost(LIMIT).until(() -> !demo.isAlive() || output().contains("running"));

        ProcessHandle redis = started.stream()
                .filter(process -> process.info()
                        .command()
                        .map(command -> Path.of(command).getFileName().toString())
                        .orElse("")
                        .matches("(redis|valkey)-.*"))
                .findFirst()
                .orElseThrow();
        redis.destroyForcibly();

        assertThat(demo.waitFor(20, TimeUnit.SECONDS)).as(this::output).isTrue();
        assertThat(demo.exitValue()).isEqualTo(1);
        assertThat(output())
                .containsPattern("minutehand demo: Redis has gone away after [0-9.]+ s \\(source=\\w+ port=\\d+")
                .contains("ledger and logs are kept in " + directory.resolve("tmp/minutehand-demo-failed-"))
                .doesNotContain("\tat ");
        assertGone(started);
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(directories).noneMatch(Files::exists));
    }

    @Test
    void shouldSayWhyThereIsNoRedis() throws Exception {
        start("--redis", "redis://127.0.0.1:1");

        assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).isEqualTo(1);
        assertThat(output())
                .contains("minutehand demo: No connection to redis://127.0.0.1:1")
                .doesNotContain("\tat ");
    }

    private void start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                // A build in the background ignores SIGINT, its children inherit that, and a JVM then leaves it so.
                "env",
                "--default-signal=INT",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-Dminutehand.launcher="
                        + (launcher == null ? ProcessHandle.current().pid() : launcher.pid()),
                // A place of its own for what it makes, so that what it leaves behind is seen.
                "-Djava.io.tmpdir=" + Files.createDirectories(directory.resolve("tmp")),
                "-cp",
                System.getProperty("java.class.path"),
                "io.minutehand.loadtest.Main",
                "demo"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output.txt").toFile());
        // The demo is to find its own, but where a test names one.
        builder.environment().remove("MINUTEHAND_REDIS");
        demo = builder.start();
    }

    /** Returns all processes that the demo has started once so many workers are up. */
    private List<ProcessHandle> awaitWorkers(int workers) {
        await().atMost(LIMIT).until(() -> !demo.isAlive() || output().contains("nodes " + workers));
        assertThat(demo.isAlive()).as(this::output).isTrue();
        List<ProcessHandle> started = demo.descendants().toList();
        assertThat(started).hasSizeGreaterThanOrEqualTo(workers);
        return started;
    }

    private List<Path> temporaryDirectories() throws IOException {
        try (Stream<Path> entries = Files.list(directory.resolve("tmp"))) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("minutehand-"))
                    .toList();
        }
    }

    private static void assertGone(List<ProcessHandle> started) {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(started).noneMatch(ProcessHandle::isAlive));
    }

    private String output() {
        try {
            return Files.readString(directory.resolve("output.txt"));
        } catch (IOException e) {
            return "no output: " + e.getMessage();
        }
    }
}

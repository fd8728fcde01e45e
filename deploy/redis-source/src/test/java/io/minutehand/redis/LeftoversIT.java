package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nothing stays behind, whichever way a server or its JVM ends. */
class LeftoversIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** The temporary directory of the child JVMs, so that whatever they leave is seen. */
    @TempDir
    Path temporary;

    private final List<Process> children = new ArrayList<>();

    @BeforeEach
    void startClean() {
        assertThat(temporary).isEmptyDirectory();
    }

    @AfterEach
    void endChildren() {
        children.forEach(Process::destroyForcibly);
    }

    @Test
    void shouldLeaveNothingAfterClose() {
        RedisServer server = RedisServer.start(RedisSettings.defaults().withAppendOnly());
        ProcessHandle process = ProcessHandle.of(server.pid()).orElseThrow();
        server.close();
        server.close();
        assertThat(process.isAlive()).isFalse();
        assertThat(server.directory()).doesNotExist();
    }

    @Test
    void shouldLeaveNothingAfterCloseInTheMiddleOfASnapshot() {
        RedisServer server = RedisServer.start(RedisSettings.defaults().with("rdb-key-save-delay 1000000"));
        try (RedisCommands commands = server.connect()) {
            for (int i = 0; i < 100; i++) {
                commands.call("SET", "k" + i, i);
            }
            commands.call("BGSAVE");
            await().atMost(LIMIT)
                    .until(() -> "1".equals(commands.info("persistence").get("rdb_bgsave_in_progress")));
        }
        server.close();
        assertThat(server.directory()).doesNotExist();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(processesIn(server.directory())).isEmpty());
    }

    @ParameterizedTest
    @CsvSource({"KILL, embedded", "TERM, embedded", "EXIT, embedded", "KILL, path", "PAUSED, path"})
    void shouldLeaveNothingWhenTheJvmEnds(String how, String source) throws Exception {
        if (source.equals("path") && Programs.installed().isEmpty()) {
            return;
        }
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-Djava.io.tmpdir=" + temporary,
                        "-Dminutehand.redis.source=" + source,
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServerInAnotherJvm.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        children.add(child);
        long pid = pidOf(child);
        ProcessHandle server = ProcessHandle.of(pid).orElseThrow();
        assertThat(temporary).isNotEmptyDirectory();

        switch (how) {
            case "KILL" -> child.destroyForcibly();
            case "TERM" -> child.destroy();
            case "EXIT" -> child.getOutputStream().close();
            case "PAUSED" -> {
                signal("STOP", pid);
                child.destroyForcibly();
            }
            default -> throw new IllegalArgumentException(how);
        }

        assertThat(child.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        await("the server is gone").atMost(LIMIT).until(() -> !server.isAlive());
        await("its directories are gone")
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(temporary).isEmptyDirectory());
    }

    private static long pidOf(Process child) throws IOException {
        BufferedReader out = child.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith("pid=")) {
                return Long.parseLong(line.substring("pid=".length()));
            }
        }
        throw new IllegalStateException("the child JVM ended early");
    }

    private static void signal(String name, long pid) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + pid)
                        .start()
                        .waitFor())
                .isZero();
    }

    private static List<Long> processesIn(Path directory) {
        return ProcessHandle.allProcesses()
                .filter(process -> {
                    try {
                        return Files.readSymbolicLink(Path.of("/proc", Long.toString(process.pid()), "cwd"))
                                .startsWith(directory);
                    } catch (IOException e) {
                        return false;
                    }
                })
                .map(ProcessHandle::pid)
                .toList();
    }
}

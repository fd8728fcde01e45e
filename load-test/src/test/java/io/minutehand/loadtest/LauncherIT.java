package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.redis.SharedRedis;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher as a person calls it: from another directory, with Redis named by the environment. */
class LauncherIT {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    @TempDir
    Path directory;

    @Test
    void shouldRunAnAdminCommand() throws Exception {
        // This build has just made the jar, unless it would have been the same: the launcher must not build inside of
        // it.
        Path jar = ROOT.resolve("load-test/target/minutehand.jar");
        Files.setLastModifiedTime(jar, FileTime.from(Instant.now()));

        assertThat(launch("admin", "audit", "--deep", "--namespace=launcher", "--json"))
                .isEqualTo("1 {\"deep\":true,\"complete\":true,\"open\":0,\"repaired\":0,\"unreadable_topics\":[],"
                        + "\"shards\":[],\"findings\":[]}");
        assertThat(launch("admin", "topics", "nobody", "--namespace=launcher")).isEqualTo("1");
        assertThat(launch("admin", "fly")).isEqualTo("2");
    }

    /** Exit status and what came on the standard output. */
    private String launch(String... words) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(ROOT.resolve("deploy/minutehand").toString()));
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("MINUTEHAND_REDIS", SharedRedis.get().uri().toString());
        builder.redirectError(new File(directory.toFile(), "stderr"));
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return (process.exitValue() + " " + out.strip()).strip();
    }
}

package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The jar that the launcher runs, as the build has packaged it. */
class RunnableJarIT {
    @Test
    void shouldTellTheVersionOfTheBuild() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-jar",
                        setting("minutehand.jar"),
                        "--version")
                .redirectErrorStream(true)
                .start();
        String output;
        try (InputStream said = process.getInputStream()) {
            output = new String(said.readAllBytes(), StandardCharsets.UTF_8);
        }

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output.strip()).isEqualTo("minutehand " + setting("minutehand.version"));
    }

    /** A property that the build sets for these tests. */
    private static String setting(String name) {
        return java.util.Objects.requireNonNull(System.getProperty(name), name + " is set by mvn verify");
    }
}

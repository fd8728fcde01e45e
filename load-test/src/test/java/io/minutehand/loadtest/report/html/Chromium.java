package io.minutehand.loadtest.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The browser of the machine, without a window. Each run is a process of its own, with a profile of its own. */
final class Chromium {
    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");

    /** The page's own time, which is not that of the clock: timers fire as soon as nothing else is to do. */
    private static final int PAGE_MS = 10_000;

    private static final int PATIENCE_S = 120;

    private final Path program;
    /** Not one of JUnit's: the browser may still write into its profile when it has answered. */
    private final Path directory;

    private Chromium(Path program) throws IOException {
        this.program = program;
        this.directory = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "chromium-");
    }

    /** The browser; without one the test is skipped, or fails where CI is set. */
    static Chromium require() throws IOException {
        for (String name : NAMES) {
            var found = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                    .map(folder -> Path.of(folder, name))
                    .filter(Files::isExecutable)
                    .findFirst();
            if (found.isPresent()) {
                return new Chromium(found.get());
            }
        }
        String missing = "none of " + NAMES + " is on the PATH; apt-get install chromium";
        return System.getenv("CI") == null ? abort(missing) : fail(missing);
    }

    /** The document as it stands after its scripts ran. */
    String dom(String page, String fragment, String... options) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(options));
        words.add("--dump-dom");
        return run(page, fragment, words);
    }

    /** A picture of the window. */
    Path picture(String page, String... options) throws IOException, InterruptedException {
        Path picture = Files.createTempFile(directory.toAbsolutePath(), "picture-", ".png");
        List<String> words = new ArrayList<>(List.of(options));
        words.add("--screenshot=" + picture);
        run(page, "", words);
        return picture;
    }

    private String run(String page, String fragment, List<String> options) throws IOException, InterruptedException {
        Path run = Files.createTempDirectory(directory.toAbsolutePath(), "run-");
        Path file = Files.writeString(run.resolve("report.html"), page);
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--user-data-dir=" + run.resolve("profile"),
                "--virtual-time-budget=" + PAGE_MS));
        command.addAll(options);
        command.add(file.toUri() + fragment);
        Path out = run.resolve("out");
        Path errors = run.resolve("errors");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS))
                    .as("%s within %d s: %s", program, PATIENCE_S, errors)
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
        return Files.readString(out);
    }
}

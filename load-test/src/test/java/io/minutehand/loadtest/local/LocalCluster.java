package io.minutehand.loadtest.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A cluster of {@code deploy/local-cluster}, in a directory of its own. Its processes do not belong to this JVM, so another process waits on a pipe
 * whose end only this JVM holds, and ends them when it closes: also when this JVM is killed.
 */
final class LocalCluster implements AutoCloseable {
    static final Path SCRIPT =
            Path.of("..", "deploy", "local-cluster").toAbsolutePath().normalize();

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int PORT_TRIES = 5;

    /** An {@code up} or {@code roll} may be at work still when this JVM has gone. */
    private static final String GUARD = """
            cat >/dev/null
            for try in $(seq 100); do
              [ -f "$2/local-cluster" ] || exit 0
              "$1" down --wipe --dir "$2" && exit 0
              sleep 2
            done
            exit 1
            """;

    /** Exit status and all that was printed. */
    record Ended(int status, String output) {}

    private final PrivateDirectory home = PrivateDirectory.create("local-cluster");
    private final Path directory = home.path().resolve("cluster");
    private final Process guard;
    private final int basePort;

    private LocalCluster(int basePort) {
        this.basePort = basePort;
        try {
            ProcessBuilder builder = new ProcessBuilder(
                            "setsid", "bash", "-c", GUARD, "guard", SCRIPT.toString(), directory.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(home.path().resolve("guard.log").toFile());
            this.guard = inScript(builder).start();
        } catch (IOException e) {
            throw new UncheckedIOException("the guard of a local cluster cannot be started", e);
        }
    }

    /**
     * Starts one and waits until it is ready.
     *
     * @param options of {@code up}, besides directory and ports
     */
    static LocalCluster up(List<String> options) {
        for (int tries = 1; ; tries++) {
            // Below the ports that FreePorts gives to other tests.
            LocalCluster cluster =
                    new LocalCluster(10_000 + 60 * ThreadLocalRandom.current().nextInt(160));
            Ended ended;
            try {
                List<String> words = new ArrayList<>(List.of("up", "--base-port", Integer.toString(cluster.basePort)));
                words.addAll(options);
                ended = cluster.run(words.toArray(String[]::new));
                if (ended.status() == 0) {
                    System.out.print(ended.output());
                    return cluster;
                }
            } catch (RuntimeException | Error failed) {
                cluster.close();
                throw failed;
            }
            cluster.close();
            if (!ended.output().contains(" is taken") || tries == PORT_TRIES) {
                throw new AssertionError("local-cluster up: exit status " + ended.status() + "\n" + ended.output());
            }
        }
    }

    private static ProcessBuilder inScript(ProcessBuilder builder) {
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // The script must not build inside of the build that runs this.
        builder.environment()
                .put(
                        "MINUTEHAND_JAR",
                        Objects.requireNonNull(
                                System.getProperty("minutehand.jar"), "minutehand.jar is set by mvn verify"));
        builder.environment().remove("MINUTEHAND_JAVA_OPTIONS");
        return builder;
    }

    /** Runs a command of the script. */
    Ended run(String... words) {
        return run(inScript(new ProcessBuilder(
                Stream.concat(Stream.of(SCRIPT.toString(), "--dir", directory.toString()), Stream.of(words))
                        .toList())));
    }

    /** Runs a command of the script that must succeed, and returns what it prints. */
    String must(String... words) {
        Ended ended = run(words);
        assertThat(ended.status())
                .as("local-cluster %s: %s", String.join(" ", words), ended.output())
                .isZero();
        return ended.output();
    }

    static Ended run(ProcessBuilder builder) {
        try {
            Process process = builder.redirectErrorStream(true).start();
            process.getOutputStream().close();
            try (InputStream output = process.getInputStream()) {
                String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .as("%s ends", builder.command())
                        .isTrue();
                return new Ended(process.exitValue(), said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + builder.command(), e);
        }
    }

    /** Where the routers listen. */
    List<URI> routers(String subnet) {
        return Stream.of(1, 2)
                .map(number -> URI.create("http://"
                        + (subnet.isEmpty() ? "127.0.0.1" : subnet + ".2" + number)
                        + ":" + (basePort + 20 + number)))
                .toList();
    }

    /** A key that may do everything. */
    String key() {
        try {
            return Files.readString(directory.resolve("api-key")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The ends of all logs, for whoever looks for the cause. */
    String logs() {
        StringBuilder logs = new StringBuilder();
        for (String node : List.of("router-1", "router-2", "worker-1", "worker-2", "worker-3", "worker-4")) {
            logs.append("==== ")
                    .append(node)
                    .append('\n')
                    .append(run("logs", node).output());
        }
        return logs.toString();
    }

    @Override
    public void close() {
        try {
            guard.getOutputStream().close();
            assertThat(guard.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("the cluster in %s ends", directory)
                    .isTrue();
            assertThat(guard.exitValue()).as(home.endOf("guard.log")).isZero();
            assertThat(directory.resolve("local-cluster")).doesNotExist();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while the cluster in " + directory + " ended", e);
        } finally {
            home.close();
        }
    }
}

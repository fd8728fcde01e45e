package io.minutehand.worker;

import io.minutehand.source.PrivateDirectory;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A main class of these tests as a process of its own, and the files that it writes. It is gone with this JVM, however that ends. */
final class JavaProcess implements AutoCloseable {
    private static final String LOG = "log";

    private final PrivateDirectory home;
    private final Process process;

    private JavaProcess(PrivateDirectory home, Process process) {
        this.home = home;
        this.process = process;
    }

    /** @param arguments of the main class, behind the first one: the directory for its files */
    static JavaProcess start(String label, Class<?> main, Map<String, String> environment, String... arguments) {
        PrivateDirectory home = PrivateDirectory.create(label);
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath,
                main.getName(),
                home.path().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(home.path().resolve(LOG).toFile());
        builder.environment().putAll(environment);
        return new JavaProcess(home, home.start(builder));
    }

    Process process() {
        return process;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL; returns when it is gone. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    String log() {
        return String.join("\n", lines(LOG));
    }

    /** Whole lines of a file; none when it is not there. */
    List<String> lines(String file) {
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

package io.minutehand.loadtest.fleet;

import io.minutehand.source.PrivateDirectory;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One worker, as a process of its own. It says on its output how it fares, see {@link WorkerLine}; it ends when its
 * input says {@code stop}, or is closed, which happens by itself when this process is gone. Thread-safe.
 */
public final class WorkerProcess {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerProcess.class);

    private final String name;
    private final Process process;
    private final BufferedWriter input;
    private volatile WorkerLine.Status status = WorkerLine.Status.NONE;
    private volatile boolean endWanted;

    /** How the JVM of a worker compiles. */
    public enum Compiler {
        /** Soon, and little: what runs for a minute is compiled when it begins, and leaves the cores to the work. */
        SOON(List.of("-XX:TieredStopAtLevel=1")),

        /** As a JVM does unless told otherwise: the code is the fastest, some ten seconds later. */
        FULLY(List.of());

        private final List<String> options;

        Compiler(List<String> options) {
            this.options = options;
        }
    }

    /**
     * How the workers of a fleet are started; each function gets a worker's name.
     *
     * @param command the subcommand of {@code minutehand} that is a worker
     * @param heapMb the largest heap, MiB
     * @param compiler how its code is compiled
     * @param arguments of the command
     * @param environment variables beyond those of this process; secrets go here, for arguments show in process lists
     */
    public record Kind(
            String command,
            int heapMb,
            Compiler compiler,
            Function<String, List<String>> arguments,
            Function<String, Map<String, String>> environment) {}

    private WorkerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
    }

    /**
     * Starts a worker.
     *
     * @param home where it runs; when this process ends, however, what runs there is killed
     * @param kind how it is started
     * @param log file for what the JVM itself prints
     * @param unasked called if it ends without having been told to
     */
    public static WorkerProcess start(
            String name, PrivateDirectory home, Kind kind, Path log, Consumer<WorkerProcess> unasked) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions(kind));
        command.add("-cp");
        command.add(absoluteClassPath());
        command.add("io.minutehand.loadtest.Main");
        command.add(kind.command());
        command.addAll(kind.arguments().apply(name));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        builder.environment().putAll(kind.environment().apply(name));
        WorkerProcess worker = new WorkerProcess(name, home.start(builder));
        Thread reader = new Thread(worker::read, "output-of-" + name);
        reader.setDaemon(true);
        reader.start();
        worker.process.onExit().thenRun(() -> {
            if (!worker.endWanted) {
                unasked.accept(worker);
            }
        });
        return worker;
    }

    /** The simple collector leaves the cores to the work: heaps are small. */
    private static List<String> jvmOptions(Kind kind) {
        List<String> options =
                new ArrayList<>(List.of("-Xmx" + kind.heapMb() + "m", "-XX:+UseSerialGC", "-Xshare:auto"));
        options.addAll(kind.compiler().options);
        if (Runtime.version().feature() >= 24) {
            // Netty's native code and Unsafe; the manifest that allows them is not read with -cp.
            options.add("--enable-native-access=ALL-UNNAMED");
            options.add("--sun-misc-unsafe-memory-access=allow");
        }
        return options;
    }

    private static String absoluteClassPath() {
        String separator = System.getProperty("path.separator");
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(java.util.regex.Pattern.quote(separator), -1)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(separator, entries);
    }

    /** Returns its name. */
    public String name() {
        return name;
    }

    /** Returns its process id. */
    public long pid() {
        return process.pid();
    }

    /** Returns whether its process exists. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the id under which it is a member, or null while it has not joined. */
    public @Nullable String nodeId() {
        WorkerLine.Status said = status;
        return said == WorkerLine.Status.NONE ? null : said.nodeId();
    }

    /** Returns what it last said of itself. */
    public WorkerLine.Status status() {
        return status;
    }

    /** Returns whether it was told to stop, or killed from here. */
    public boolean wasToldToEnd() {
        return endWanted;
    }

    /** Asks it to finish what it runs, leave and end; does not wait. */
    public void stop() {
        endWanted = true;
        try {
            input.write("stop\n");
            input.flush();
        } catch (IOException e) {
            LOG.info("fleet: worker is gone already node={}", name);
        }
    }

    /** Waits for its end. Returns the exit status, or null if it did not end in time. */
    public @Nullable Integer awaitEnd(long timeoutMs) throws InterruptedException {
        return process.waitFor(timeoutMs, TimeUnit.MILLISECONDS) ? (Integer) process.exitValue() : null;
    }

    /** Kills it with SIGKILL and waits until it is gone. */
    public void kill() {
        endWanted = true;
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Asks it to end with SIGTERM; does not wait. */
    public void terminate() throws IOException, InterruptedException {
        endWanted = true;
        try {
            // Not Process.destroy, which closes the streams as well: that would end it at once.
            signal("TERM");
        } catch (IOException e) {
            if (process.isAlive()) {
                throw e;
            }
        }
    }

    /** Halts it where it stands (SIGSTOP), as a first step of killing it at a known point. */
    public void halt() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** Lets it go on after {@link #halt}. */
    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + process.pid())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (kill.waitFor() != 0) {
            throw new IOException("SIG" + signal + " did not reach " + name + ", process " + process.pid());
        }
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                take(line);
            }
        } catch (IOException e) {
            // Killed: its pipe is gone, and so is all that it could say.
        }
    }

    private void take(String line) {
        WorkerLine.Status said = WorkerLine.status(line);
        if (said != null) {
            status = said;
        } else {
            LOG.info("fleet: node={} says: {}", name, line);
        }
    }
}

package io.minutehand.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A directory for this user only (mode 0700), with the processes that run in it. Both are gone after {@link #close()},
 * and also when this JVM ends in any other way, SIGKILL included.
 *
 * <p>How: a small shell waits on a pipe whose other end only this JVM holds. When the JVM is gone the system closes the
 * pipe; the shell then kills every process whose working directory is this one, and deletes it. That needs no process
 * ids, which may be reused, and cannot miss a child that the JVM started and did not live to record. A shutdown hook
 * would not run on SIGKILL, and on an orderly exit it would end Redis under the hooks of others that still use it; a
 * parent-death signal is bound to the thread that started the child, not to the JVM.
 *
 * <p>Processes get a session of their own where {@code setsid} exists, so that a Ctrl-C reaches this JVM alone, which
 * then decides in which order things end. Thread-safe.
 */
public final class PrivateDirectory implements AutoCloseable {

    private static final String PREFIX = "minutehand-";

    /**
     * $1 = directory. Lines on the pipe: a process id (used only where there is no /proc), or "done". The second pass
     * finds a child that had not yet changed into the directory during the first.
     */
    private static final String WATCHDOG = """
            trap '' INT TERM HUP
            pids=
            while read -r word; do
              [ "$word" = done ] && exit 0
              pids="$pids $word"
            done
            for pass in first second; do
              if [ -d /proc/self/cwd ]; then
                for cwd in /proc/[0-9]*/cwd; do
                  if [ "$cwd" -ef "$1" ]; then pid=${cwd#/proc/}; kill -9 "${pid%/cwd}"; fi
                done
              else
                for pid in $pids; do kill -9 "$pid"; done
                pids=
              fi
              [ "$pass" = second ] || sleep 0.2 || sleep 1
            done
            rm -rf -- "$1"
            """;

    private static final Optional<Path> SETSID = Executables.find("setsid");

    private static final Path PROCESSES = Path.of("/proc");
    private static final int PORT_TRIES = 5;
    private static final String PORT_TAKEN = "Address already in use";
    private static final int SHOWN_LOG_LINES = 15;
    private static final Duration STRAY_LIMIT = Duration.ofSeconds(10);

    private final Path path;
    private final Process watchdog;
    private final List<Process> processes = new ArrayList<>();
    private boolean closed;

    private PrivateDirectory(Path path, Process watchdog) {
        this.path = path;
        this.watchdog = watchdog;
    }

    /**
     * Makes an empty directory below {@code java.io.tmpdir}.
     *
     * @param label part of its name, for people who look
     * @throws UncheckedIOException if it cannot be made, or if there is no {@code /bin/sh}
     */
    public static PrivateDirectory create(String label) {
        try {
            Path path = Files.createTempDirectory(
                            PREFIX + label + "-",
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")))
                    .toRealPath();
            try {
                // Outside of the directory, or the watchdog would find itself in it.
                Process watchdog = new ProcessBuilder(detached("/bin/sh", "-c", WATCHDOG, "watchdog", path.toString()))
                        .directory(path.getRoot().toFile())
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                return new PrivateDirectory(path, watchdog);
            } catch (IOException e) {
                Files.delete(path);
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("No private directory for " + label + ": " + e.getMessage(), e);
        }
    }

    /**
     * Makes a directory and starts a server in it, on a port that was free; in another one, on another port, when somebody took the first port
     * meanwhile. The directory of a server that does not start is gone.
     *
     * @param start returns when the server answers; of what it throws, a message with {@code Address already in use} means that the port is taken
     */
    public static <S> S startServer(String label, Function<PrivateDirectory, S> start) {
        for (int attempt = 1; ; attempt++) {
            PrivateDirectory directory = create(label);
            try {
                return start.apply(directory);
            } catch (RuntimeException e) {
                directory.close();
                if (attempt == PORT_TRIES || !String.valueOf(e.getMessage()).contains(PORT_TAKEN)) {
                    throw e;
                }
            }
        }
    }

    /** The directory, absolute and without symbolic links. */
    public Path path() {
        return path;
    }

    /**
     * Writes a file that only this user can read.
     *
     * @throws UncheckedIOException if it exists, or cannot be written
     */
    public Path write(String name, String text) {
        Path file = path.resolve(name);
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException("Writing " + file + " failed: " + e.getMessage(), e);
        }
    }

    /** The last lines of a log in this directory, as the end of a message. */
    public String endOf(String log) {
        try {
            List<String> lines = Files.readAllLines(path.resolve(log));
            return "its log ends with:\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - SHOWN_LOG_LINES), lines.size()));
        } catch (IOException e) {
            return "its log cannot be read: " + e.getMessage();
        }
    }

    /**
     * Starts a process that works in this directory and ends with it.
     *
     * @param builder command, environment and redirections; its working directory is set here
     * @throws IllegalArgumentException if there is no such program
     * @throws UncheckedIOException  if it cannot be started
     * @throws IllegalStateException if this directory is closed
     */
    public synchronized Process start(ProcessBuilder builder) {
        if (closed) {
            throw new IllegalStateException(path + " is closed; make a new directory to start processes in");
        }
        List<String> command = List.copyOf(builder.command());
        String program = command.get(0);
        if (program.contains("/")
                ? !Files.isExecutable(Path.of(program))
                : Executables.find(program).isEmpty()) {
            // Through setsid a missing program would only show as a process that ends with status 127.
            throw new IllegalArgumentException(program + " is not an executable program");
        }
        try {
            Process process = builder.command(detached(command.toArray(String[]::new)))
                    .directory(path.toFile())
                    .start();
            processes.removeIf(other -> !other.isAlive());
            processes.add(process);
            tell(Long.toString(process.pid()));
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException("Starting " + program + " failed: " + e.getMessage(), e);
        } finally {
            builder.command(command);
        }
    }

    /**
     * Kills the processes and deletes the directory. Calling it again does nothing.
     *
     * @throws IllegalStateException if the directory cannot be deleted
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            killAll();
            deleteTree(path);
            tell("done");
        } catch (IOException e) {
            // Something new appeared in the directory meanwhile. The watchdog, which now sees its pipe close without
            // "done", does the rest.
        }
        closePipe();
        watchdog.onExit().join();
        if (Files.exists(path)) {
            throw new IllegalStateException(path + " could not be deleted; look for processes that hold it");
        }
    }

    /**
     * Kills (SIGKILL) every process that works in this directory, also the children that a process started itself, and
     * returns when they are gone. The directory stays, and new processes can be started in it.
     *
     * @throws UncheckedIOException if the processes of this machine cannot be listed
     */
    public synchronized void killProcesses() {
        try {
            killAll();
        } catch (IOException e) {
            throw new UncheckedIOException("Ending the processes of " + path + " failed: " + e.getMessage(), e);
        }
    }

    private void killAll() throws IOException {
        for (Process process : processes) {
            process.destroyForcibly();
        }
        for (Process process : processes) {
            process.onExit().join();
        }
        killStrays();
    }

    /** Kills what the processes left behind, such as a child that a killed server had forked for a snapshot. */
    private void killStrays() throws IOException {
        if (!Files.isDirectory(PROCESSES)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (Path entry : entries) {
                if (worksHere(entry)) {
                    long pid = Long.parseLong(entry.getFileName().toString());
                    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
                    // Not its exit: a dead process that nobody reaps stays a process, but works nowhere any more.
                    Waiting.until(
                            "process " + pid + " to end", STRAY_LIMIT, () -> !worksHere(entry), () -> "it is there");
                }
            }
        }
    }

    private boolean worksHere(Path process) {
        try {
            return Files.readSymbolicLink(process.resolve("cwd")).equals(path);
        } catch (IOException e) {
            // Gone meanwhile, or of another user.
            return false;
        }
    }

    private void tell(String line) throws IOException {
        watchdog.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        watchdog.getOutputStream().flush();
    }

    private void closePipe() {
        try {
            watchdog.getOutputStream().close();
        } catch (IOException e) {
            // The watchdog is gone already; the pipe has no other use.
        }
    }

    private static List<String> detached(String... command) {
        List<String> result = new ArrayList<>();
        SETSID.ifPresent(setsid -> result.add(setsid.toString()));
        result.addAll(List.of(command));
        return result;
    }

    private static void deleteTree(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException e) throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}

package io.minutehand.source;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks programs up the way a shell does, and starts them. */
public final class Executables {

    /** ETXTBSY, as JDKs tell it: {@code error=26, Text file busy}, since version 25 {@code Exec failed, error: 26 (Text file busy)}. */
    private static final Pattern BUSY = Pattern.compile("\\berror(=|: )26\\b");

    private static final long BUSY_LIMIT_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long BUSY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private static final long VERSION_LIMIT_S = 10;
    private static final long SIGNAL_LIMIT_S = 30;

    private Executables() {}

    /** The program on this process's {@code PATH}, or empty. */
    public static Optional<Path> find(String name) {
        return find(name, System.getenv("PATH"));
    }

    /** The first executable file of that name in the directories of {@code searchPath}; null has none. */
    public static Optional<Path> find(String name, @Nullable String searchPath) {
        if (searchPath == null) {
            return Optional.empty();
        }
        for (String directory : searchPath.split(File.pathSeparator, -1)) {
            // An empty entry means the working directory to a shell: running what lies there would be a surprise.
            if (directory.isEmpty()) {
                continue;
            }
            Path candidate = Path.of(directory, name);
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return Optional.of(candidate.toAbsolutePath());
            }
        }
        return Optional.empty();
    }

    /**
     * Starts a program that this process may have written a moment ago. A file that is open for writing cannot be run, and whatever process another
     * thread starts meanwhile holds it open, too, until it runs its own program: so that is waited for, for up to 5 s.
     *
     * @throws IOException as {@link ProcessBuilder#start()} throws it
     */
    public static Process start(ProcessBuilder builder) throws IOException {
        long beganNs = System.nanoTime();
        while (true) {
            try {
                return builder.start();
            } catch (IOException e) {
                boolean busy = BUSY.matcher(String.valueOf(e.getMessage())).find();
                if (!busy || System.nanoTime() - beganNs > BUSY_LIMIT_NS) {
                    throw e;
                }
                LockSupport.parkNanos(BUSY_PAUSE_NS);
            }
        }
    }

    /**
     * What a program prints when it is asked for its version.
     *
     * @throws IllegalStateException if it does not run, or not end within 10 s
     */
    public static String versionText(Path executable) {
        try {
            Process process = start(new ProcessBuilder(executable.toString(), "--version").redirectErrorStream(true));
            process.getOutputStream().close();
            if (!process.waitFor(VERSION_LIMIT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("'" + executable + " --version' did not end");
            }
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("'" + executable + " --version' failed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while asking " + executable + " for its version", e);
        }
    }

    /**
     * Sends a process a signal.
     *
     * @param signal its name without SIG, such as {@code STOP}
     * @throws IllegalStateException if it does not reach the process
     */
    public static void signal(Process process, String signal) {
        // The shell's own kill: the program of that name is not on every machine.
        try {
            Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + process.pid()).start();
            if (!kill.waitFor(SIGNAL_LIMIT_S, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IllegalStateException("SIG" + signal + " did not reach process " + process.pid());
            }
        } catch (IOException e) {
            throw new IllegalStateException("Sending SIG" + signal + " failed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending SIG" + signal, e);
        }
    }
}

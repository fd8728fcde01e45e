package io.minutehand.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The wall clock of a process, to be set while it runs: libfaketime stands before the C library and reads from a file
 * how far the process is off. The monotonic clock stays true, as it does when an administrator or NTP sets the time.
 * Thread-safe.
 */
public final class SteppedClock {
    /** Where distributions put it. */
    private static final List<String> FAKETIME = List.of(
            "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
            "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
            "/usr/lib64/faketime/libfaketime.so.1",
            "/usr/lib/faketime/libfaketime.so.1",
            "/usr/local/lib/faketime/libfaketime.so.1");

    /**
     * The C library's own allocator under its plain names. jemalloc, which Redis is linked with, asks for the time while
     * libfaketime is starting and allocates, and the two end in a loop; so the C library has to come before it.
     */
    private static final List<String> MALLOC = List.of(
            "/lib/x86_64-linux-gnu/libc_malloc_debug.so.0",
            "/lib/aarch64-linux-gnu/libc_malloc_debug.so.0",
            "/lib64/libc_malloc_debug.so.0",
            "/usr/lib/libc_malloc_debug.so.0");

    private final Path file;
    private final String preload;

    private SteppedClock(Path file, String preload) {
        this.file = file;
        this.preload = preload;
    }

    /** Whether this machine has libfaketime. */
    public static boolean supported() {
        return firstOf(FAKETIME).isPresent();
    }

    /**
     * A clock that is right, for processes that get its {@link #environment}.
     *
     * @param file where its offset is kept; is written
     * @throws IllegalStateException if this machine has no libfaketime
     */
    public static SteppedClock create(Path file) {
        String faketime = firstOf(FAKETIME)
                .orElseThrow(() -> new IllegalStateException("There is no libfaketime on this machine, of " + FAKETIME
                        + "; install it (Debian: apt-get install faketime)"));
        String preload =
                Stream.concat(firstOf(MALLOC).stream(), Stream.of(faketime)).collect(Collectors.joining(" "));
        SteppedClock clock = new SteppedClock(file.toAbsolutePath(), preload);
        clock.set(Duration.ZERO);
        return clock;
    }

    private static Optional<String> firstOf(List<String> paths) {
        return paths.stream().filter(path -> Files.exists(Path.of(path))).findFirst();
    }

    /** What a process needs in its environment to live by this clock. */
    public Map<String, String> environment() {
        return Map.of(
                "LD_PRELOAD",
                preload,
                "FAKETIME_TIMESTAMP_FILE",
                file.toString(),
                // Else it looks into the file each ten seconds only; at each look at the clock would be the whole work
                // of a
                // JVM, which looks thousands of times a second.
                "FAKETIME_CACHE_DURATION",
                "1",
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1",
                // Else a child of the process would count from its own start.
                "FAKETIME_DONT_RESET",
                "1");
    }

    /**
     * Sets the clock: within a second it differs from the machine's by so much, forward if positive; whole seconds. A
     * process that rarely looks at its clock may have one more look at the old time.
     */
    public void set(Duration offset) {
        try {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.writeString(next, String.format(java.util.Locale.ROOT, "%+d%n", offset.toSeconds()));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("Setting the clock in " + file + " failed: " + e.getMessage(), e);
        }
    }
}

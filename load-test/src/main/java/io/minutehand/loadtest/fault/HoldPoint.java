package io.minutehand.loadtest.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Where in a worker all jobs can be held: a barrier file in the work directory says on which worker, and where. */
enum HoldPoint {
    /** Popped, and the handler not called yet. */
    POPPED,
    /** In the handler, after its start was noted. */
    HANDLER,
    /** After the handler, before its end is told to Redis. */
    ACK;

    private static Path file(Path workDir, String node) {
        return workDir.resolve(node + ".hold");
    }

    /** From now on each job of the worker is held here, for ever or until {@link #release}. */
    void hold(Path workDir, String node) {
        try {
            Path draft = workDir.resolve(node + ".hold.new");
            Files.writeString(draft, name(), StandardOpenOption.CREATE);
            Files.move(draft, file(workDir, node));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets all jobs of the worker go on. */
    static void release(Path workDir, String node) {
        try {
            Files.deleteIfExists(file(workDir, node));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where the worker's jobs are held now, or null. */
    static @Nullable HoldPoint of(Path workDir, String node) {
        Path file = file(workDir, node);
        if (!file.toFile().exists()) {
            return null;
        }
        try {
            return valueOf(Files.readString(file));
        } catch (IOException e) {
            // Released in this moment.
            return null;
        }
    }
}

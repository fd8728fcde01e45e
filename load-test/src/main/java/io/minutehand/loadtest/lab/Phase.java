package io.minutehand.loadtest.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/** A part of a run, begun by a file that says when its first job is due. */
enum Phase {
    WARMUP,
    MEASURED;

    private Path file(Path directory) {
        return directory.resolve(name().toLowerCase(java.util.Locale.ROOT) + ".phase");
    }

    /** Lets the producers begin. */
    void begin(Path directory, long firstDueUs) throws IOException {
        Path draft = directory.resolve(name() + ".draft");
        Files.writeString(draft, Long.toString(firstDueUs));
        Files.move(draft, file(directory), StandardCopyOption.ATOMIC_MOVE);
    }

    /** When the first job is due, epoch microseconds; null if the phase has not begun. */
    @Nullable
    Long firstDueUs(Path directory) throws IOException {
        Path file = file(directory);
        return Files.exists(file) ? (Long) Long.parseLong(Files.readString(file)) : null;
    }
}

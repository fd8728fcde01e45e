package io.minutehand.redis;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks programs up the way a shell does. */
final class Executables {

    private Executables() {}

    /** The program on this process's {@code PATH}, or empty. */
    static Optional<Path> find(String name) {
        return find(name, System.getenv("PATH"));
    }

    /** The first executable file of that name in the directories of {@code searchPath}; null has none. */
    static Optional<Path> find(String name, @Nullable String searchPath) {
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
}

package io.minutehand.loadtest.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Looks before a run whether its reports can be written: afterwards its figures would be lost. */
public final class OutputFiles {
    private OutputFiles() {}

    /**
     * Makes sure that files can be written, and makes the directories that they lack.
     *
     * @param files null for one that nobody wants
     * @throws ParameterException if one cannot
     */
    public static void requireWritable(CommandSpec spec, @Nullable Path... files) {
        for (Path file : files) {
            if (file == null) {
                continue;
            }
            requireDirectories(
                    spec, Objects.requireNonNull(file.toAbsolutePath().getParent()));
            boolean isNew = !Files.exists(file);
            try (OutputStream probe =
                    Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                probe.flush();
            } catch (IOException e) {
                throw new ParameterException(spec.commandLine(), file + " cannot be written: " + e, e);
            }
            if (isNew) {
                // An empty file would look like the report of a run that came to nothing.
                file.toFile().delete();
            }
        }
    }

    /**
     * Makes directories.
     *
     * @param directories null for one that nobody wants
     * @throws ParameterException if one cannot be made
     */
    public static void requireDirectories(CommandSpec spec, @Nullable Path... directories) {
        for (Path directory : directories) {
            try {
                if (directory != null) {
                    Files.createDirectories(directory);
                }
            } catch (IOException e) {
                throw new ParameterException(spec.commandLine(), directory + " cannot be made: " + e, e);
            }
        }
    }
}

package io.minutehand.postgres;

import io.minutehand.source.Executables;
import io.minutehand.source.SourceChooser;
import io.minutehand.source.SourceKind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The programs of a PostgreSQL that can be started here.
 *
 * @param directory absolute path of the directory with {@code postgres} and {@code initdb}
 * @param version   what {@code postgres --version} printed, such as {@code 15.8}
 * @param kind      {@link SourceKind#PATH} or {@link SourceKind#EMBEDDED}
 */
public record PostgresBinary(Path directory, String version, SourceKind kind) {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresBinary.class);

    /** Debian keeps the server's programs there, one directory a version, and off the PATH. */
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");

    private static final Pattern VERSION = Pattern.compile("\\(PostgreSQL\\) (\\d+(?:\\.\\d+)*)");

    /**
     * The programs that server processes of this JVM use; see {@link SourceChooser#programs()}.
     *
     * @throws IllegalStateException if the forced ones are not available, or if there are none
     */
    public static PostgresBinary locate() {
        return PostgresSource.chooser().programs();
    }

    /** The PostgreSQL of version 12 or later that is on the PATH, else the newest where Debian keeps them. */
    public static Optional<PostgresBinary> installed() {
        return installed(System.getenv("PATH"), DEBIAN);
    }

    static Optional<PostgresBinary> installed(@Nullable String searchPath, Path debian) {
        List<Path> directories = new ArrayList<>();
        // The PATH may hold links to single programs: the others lie where the link leads.
        Executables.find("postgres", searchPath).map(PostgresBinary::home).ifPresent(directories::add);
        directories.addAll(newestFirst(debian));
        for (Path directory : directories) {
            try {
                return Optional.of(new PostgresBinary(directory, versionIn(directory), SourceKind.PATH));
            } catch (IllegalStateException e) {
                LOG.warn("postgres: ignored directory={} reason={}", directory, e.getMessage());
            }
        }
        return Optional.empty();
    }

    private static Path home(Path executable) {
        try {
            return executable.toRealPath().resolve("..").normalize();
        } catch (IOException e) {
            return executable.resolve("..").normalize();
        }
    }

    private static List<Path> newestFirst(Path debian) {
        List<Path> versions = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(debian, "[0-9]*")) {
            for (Path entry : entries) {
                if (entry.getFileName().toString().matches("\\d{1,6}")
                        && Files.isExecutable(entry.resolve("bin/postgres"))) {
                    versions.add(entry);
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        versions.sort(Comparator.comparing(
                        (Path path) -> Integer.valueOf(path.getFileName().toString()))
                .reversed());
        return versions.stream().map(version -> version.resolve("bin")).toList();
    }

    /** What to say when a required installation is missing. */
    static String missingInstallation() {
        return "there is no postgres of version " + Jdbc.OLDEST_MAJOR + " or later on the PATH or below " + DEBIAN
                + "; install one (Debian: apt-get install postgresql)";
    }

    /**
     * The programs of the jar, extracted and verified at the first call in this JVM.
     *
     * @throws IllegalStateException if this platform has none, or if they are not the ones that are expected
     */
    public static PostgresBinary embedded() {
        return EmbeddedPostgres.binary();
    }

    /** A program of that name. */
    Path program(String name) {
        return directory.resolve(name);
    }

    /** One line for people: version and where it lies. */
    public String describe() {
        return switch (kind) {
            case EMBEDDED -> "embedded PostgreSQL " + version;
            default -> "PostgreSQL " + version + " at " + directory;
        };
    }

    /**
     * Looks whether both programs are there, and runs {@code postgres --version}.
     *
     * @throws IllegalStateException if one is missing, does not run, prints no version, or is too old
     */
    static String versionIn(Path directory) {
        Path initdb = directory.resolve("initdb");
        if (!Files.isExecutable(initdb)) {
            throw new IllegalStateException(initdb + " is not an executable program");
        }
        Path executable = directory.resolve("postgres");
        String output = Executables.versionText(executable);
        Matcher matcher = VERSION.matcher(output);
        if (!matcher.find()) {
            throw new IllegalStateException("'" + executable + " --version' names no version: " + output.trim());
        }
        Jdbc.requireRecent(matcher.group(1), executable.toString());
        return matcher.group(1);
    }
}

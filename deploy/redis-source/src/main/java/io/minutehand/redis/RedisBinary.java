package io.minutehand.redis;

import io.minutehand.source.Executables;
import io.minutehand.source.SourceChooser;
import io.minutehand.source.SourceKind;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server program that can be started here.
 *
 * @param executable absolute path
 * @param version    what {@code --version} printed, such as {@code 7.0.15}
 * @param kind       {@link SourceKind#PATH} or {@link SourceKind#EMBEDDED}
 */
public record RedisBinary(Path executable, String version, SourceKind kind) {

    private static final Logger LOG = LoggerFactory.getLogger(RedisBinary.class);

    /** First major version with sharded channels, functions and script flags, which the scheduler needs. */
    static final int OLDEST_MAJOR = 7;

    private static final Pattern VERSION = Pattern.compile("\\bv=(\\d+)(\\.\\d+)*");
    private static final String VALKEY = "valkey-server";
    private static final String[] NAMES = {"redis-server", VALKEY};

    /**
     * The programs that server processes of this JVM use; see {@link SourceChooser#programs()}.
     *
     * @throws IllegalStateException if the forced ones are not available, or if there are none
     */
    public static RedisBinary locate() {
        return RedisSource.chooser().programs();
    }

    /** The installed {@code redis-server}, else {@code valkey-server}, of version 7.0 or later. */
    public static Optional<RedisBinary> onPath() {
        return onPath(System.getenv("PATH"));
    }

    /** The installed {@code valkey-server} of version 7.0 or later, whether or not there is a {@code redis-server}. */
    public static Optional<RedisBinary> valkey() {
        return valkey(System.getenv("PATH"));
    }

    static Optional<RedisBinary> valkey(@Nullable String searchPath) {
        return onPath(searchPath, VALKEY);
    }

    static Optional<RedisBinary> onPath(@Nullable String searchPath) {
        return onPath(searchPath, NAMES);
    }

    private static Optional<RedisBinary> onPath(@Nullable String searchPath, String... names) {
        for (String name : names) {
            Optional<Path> found = Executables.find(name, searchPath);
            if (found.isPresent()) {
                Path executable = found.get();
                try {
                    return Optional.of(new RedisBinary(executable, versionOf(executable), SourceKind.PATH));
                } catch (IllegalStateException e) {
                    LOG.warn("redis: ignored executable={} reason={}", executable, e.getMessage());
                }
            }
        }
        return Optional.empty();
    }

    /** What to say when a required installation is missing. */
    static String missingOnPath() {
        return "there is no redis-server or valkey-server of version " + OLDEST_MAJOR
                + ".0 or later on the PATH; install one (Debian: apt-get install redis-server)";
    }

    /**
     * The binary of the embedded-redis jar, extracted and verified at the first call in this JVM.
     *
     * @throws IllegalStateException if this platform has none, or if it is not the one that is expected
     */
    public static RedisBinary embedded() {
        return EmbeddedRedis.binary();
    }

    /** One line for people: version and where it lies. */
    public String describe() {
        return switch (kind) {
            case EMBEDDED -> "embedded Redis " + version;
            default -> executable.getFileName() + " " + version + " at " + executable;
        };
    }

    /**
     * Runs {@code --version} and checks that it is recent enough.
     *
     * @throws IllegalStateException if it does not run, prints no version, or is too old
     */
    static String versionOf(Path executable) {
        String output = Executables.versionText(executable);
        Matcher matcher = VERSION.matcher(output);
        if (!matcher.find()) {
            throw new IllegalStateException("'" + executable + " --version' names no version: " + output.trim());
        }
        String version = matcher.group().substring("v=".length());
        requireRecent(version, executable.toString());
        return version;
    }

    /** Refuses versions below 7.0. */
    static void requireRecent(String version, String what) {
        String major = version.split("\\.", 2)[0];
        if (!major.matches("\\d{1,6}") || Integer.parseInt(major) < OLDEST_MAJOR) {
            throw new IllegalStateException(
                    what + " is version " + version + "; " + OLDEST_MAJOR + ".0 or later is needed");
        }
    }
}

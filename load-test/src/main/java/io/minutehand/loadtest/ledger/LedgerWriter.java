package io.minutehand.loadtest.ledger;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The ledger file of one process.
 *
 * <p>Each record is one write to a file opened for appending: when {@link #append} returns, the line is with the
 * operating system, so a SIGKILL of the process cannot take it back. Nothing is buffered in the process and nothing is
 * forced to the disk: the ledger outlives processes, not the machine. A plain output stream rather than a
 * {@code FileChannel}, because a channel is closed for everybody when one writing thread is interrupted, and handlers
 * are interrupted when their job is no longer theirs.
 *
 * <p>Thread-safe: the operating system keeps appends whole.
 */
public final class LedgerWriter implements AutoCloseable {
    static final String SUFFIX = ".ledger";

    private final Path path;
    private final FileOutputStream file;

    private LedgerWriter(Path path, FileOutputStream file) {
        this.path = path;
        this.file = file;
    }

    /**
     * Opens the file of a process.
     *
     * @param process its name, unique in the directory; it becomes the file's name
     * @throws FileAlreadyExistsException if a process of that name has written there before
     */
    public static LedgerWriter create(Path directory, String process) throws IOException {
        Files.createDirectories(directory);
        Path path = directory.resolve(process + SUFFIX);
        Files.createFile(path);
        return new LedgerWriter(path, new FileOutputStream(path.toFile(), true));
    }

    /**
     * Writes one record.
     *
     * @throws UncheckedIOException if it cannot be written; a run without its ledger is worth nothing
     */
    public void append(LedgerRecord entry) {
        try {
            file.write(LedgerLine.encode(entry));
        } catch (IOException e) {
            throw new UncheckedIOException("Writing " + path + " failed: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

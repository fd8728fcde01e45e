package io.minutehand.loadtest.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Reads all ledger files of a directory, also while they are being written: each {@link #poll} hands out the records
 * that have become complete since the one before.
 *
 * <p>A line counts once its end is there. What is left at the end of a file when its process is gone is a torn line:
 * the process was killed while it wrote, and the line is ignored and counted. A whole line that makes no sense is
 * damage, and a run with damage proves nothing.
 *
 * <p>For one thread.
 */
public final class LedgerTail {
    /** Read buffer, bytes; several thousand lines. */
    private static final int CHUNK_BYTES = 1 << 20;

    private final Path directory;
    private final Map<Path, Source> sources = new TreeMap<>();
    private final ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
    private long damagedLines;

    /** Reads the ledger files of a directory, those that appear later included. */
    public LedgerTail(Path directory) {
        this.directory = directory;
    }

    /**
     * Reads everything that a directory holds now.
     *
     * @return the tail, for its counts
     */
    public static LedgerTail readAll(Path directory, Consumer<LedgerRecord> sink) throws IOException {
        LedgerTail tail = new LedgerTail(directory);
        tail.poll(sink);
        return tail;
    }

    /**
     * Hands out what is new.
     *
     * @param sink takes the records, in file order for each process
     * @return how many there were
     */
    public int poll(Consumer<LedgerRecord> sink) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + LedgerWriter.SUFFIX)) {
            for (Path file : files) {
                sources.computeIfAbsent(file, Source::new);
            }
        }
        int records = 0;
        for (Source source : sources.values()) {
            records += source.poll(sink);
        }
        return records;
    }

    /** Returns how many files end, so far, in the middle of a line. */
    public int tornLines() {
        return (int) sources.values().stream()
                .filter(source -> source.rest.length > 0)
                .count();
    }

    /** Returns how many whole lines could not be read. */
    public long damagedLines() {
        return damagedLines;
    }

    private final class Source {
        private final Path file;
        private long offset;
        /** The beginning of a line whose end is not there yet. */
        private byte[] rest = new byte[0];

        Source(Path file) {
            this.file = file;
        }

        int poll(Consumer<LedgerRecord> sink) throws IOException {
            int records = 0;
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                while (channel.read(chunk.clear(), offset) > 0) {
                    offset += chunk.flip().remaining();
                    records += lines(sink);
                }
            }
            return records;
        }

        private int lines(Consumer<LedgerRecord> sink) {
            int records = 0;
            byte[] bytes = chunk.array();
            int begin = 0;
            for (int i = 0; i < chunk.limit(); i++) {
                if (bytes[i] != '\n') {
                    continue;
                }
                String line = new String(bytes, begin, i - begin, UTF_8);
                if (rest.length > 0) {
                    // Cut between characters only by chance, so the bytes are joined before they become text.
                    line = new String(joined(rest, bytes, begin, i), UTF_8);
                    rest = new byte[0];
                }
                begin = i + 1;
                records += hand(line, sink);
            }
            rest = joined(rest, bytes, begin, chunk.limit());
            return records;
        }

        private int hand(String line, Consumer<LedgerRecord> sink) {
            LedgerRecord entry;
            try {
                entry = LedgerLine.decode(line);
            } catch (IllegalArgumentException e) {
                damagedLines++;
                return 0;
            }
            sink.accept(entry);
            return 1;
        }
    }

    private static byte[] joined(byte[] head, byte[] bytes, int begin, int end) {
        byte[] whole = Arrays.copyOf(head, head.length + end - begin);
        System.arraycopy(bytes, begin, whole, head.length, end - begin);
        return whole;
    }
}

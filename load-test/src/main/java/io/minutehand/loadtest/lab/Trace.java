package io.minutehand.loadtest.lab;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * What one process saw of the measured jobs, in an append-only file: 17 bytes an event, so that 50,000 jobs a second
 * cost little. Thread-safe.
 */
final class Trace implements AutoCloseable {
    private static final String SUFFIX = ".trace";
    private static final int EVENT_BYTES = 17;
    private static final int BUFFER_EVENTS = 4_096;

    /** What happened to a job. */
    enum Event {
        SENT,
        STORED,
        REFUSED,
        STARTED
    }

    /** Takes the events of a file. */
    interface Reader {
        void take(Event event, long number, long atUs);
    }

    private final FileChannel file;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_EVENTS * EVENT_BYTES);

    private Trace(FileChannel file) {
        this.file = file;
    }

    static Trace create(Path directory, String process) throws IOException {
        return new Trace(FileChannel.open(
                directory.resolve(process + SUFFIX), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    /**
     * Notes an event.
     *
     * @param number of the job
     * @param atUs when, by the clock of Redis, epoch microseconds
     */
    synchronized void note(Event event, long number, long atUs) {
        if (buffer.remaining() < EVENT_BYTES) {
            flush();
        }
        buffer.put((byte) event.ordinal()).putLong(number).putLong(atUs);
    }

    /** Writes what was noted into the file. */
    synchronized void flush() {
        try {
            buffer.flip();
            while (buffer.hasRemaining()) {
                file.write(buffer);
            }
            buffer.clear();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        flush();
        file.close();
    }

    /** Reads all files of a directory, one after the other. */
    static void readAll(Path directory, Reader reader) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.filter(file -> file.toString().endsWith(SUFFIX))
                    .sorted()
                    .toList();
        }
        Event[] events = Event.values();
        for (Path file : files) {
            if (Files.size(file) % EVENT_BYTES != 0) {
                throw new IOException(file + " ends within an event: its process did not close it");
            }
            try (DataInputStream in =
                    new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
                while (true) {
                    int kind = in.read();
                    if (kind < 0) {
                        break;
                    }
                    reader.take(events[kind], in.readLong(), in.readLong());
                }
            } catch (EOFException e) {
                throw new IOException(file + " ends within an event", e);
            }
        }
    }
}

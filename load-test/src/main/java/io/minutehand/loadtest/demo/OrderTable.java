package io.minutehand.loadtest.demo;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The orders whose closing the demo schedules: the part of a business database.
 *
 * <p>It is no database. It is a file that all processes of the demo map into their memory, one word an order, changed
 * by compare-and-set. That keeps what matters of {@code UPDATE orders SET status = 'CLOSED' WHERE id = ? AND status =
 * 'WAIT_PAY'}: it is atomic across processes, tells how many rows it changed, and outlives a process that is killed. It
 * does not outlive the machine. A real database was left out so that the demo needs none and its figures are the
 * scheduler's; a table in Redis was left out so that the CPU time of Redis is the scheduler's too.
 */
final class OrderTable implements AutoCloseable {
    /** Where an order stands. */
    enum Status {
        /** There is no such order. */
        NONE,
        /** Ordered, not paid. */
        WAIT_PAY,
        /** Paid in time. */
        PAID,
        /** Closed because it was not paid in time. */
        CLOSED
    }

    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private static final Status[] STATUSES = Status.values();

    private final FileChannel file;
    private final ByteBuffer words;

    private OrderTable(FileChannel file, ByteBuffer words) {
        this.file = file;
        this.words = words;
    }

    /**
     * Makes an empty table.
     *
     * @param orders how many orders it can hold, numbered from 0
     */
    static OrderTable create(Path path, int orders) throws IOException {
        FileChannel file = FileChannel.open(
                path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        // A hole in the file would be filled by writes to memory, and on a full disk such a write is an error of the
        // JVM.
        ByteBuffer zeros = ByteBuffer.allocate(orders * Integer.BYTES);
        while (zeros.hasRemaining()) {
            file.write(zeros);
        }
        return new OrderTable(file, file.map(FileChannel.MapMode.READ_WRITE, 0, (long) orders * Integer.BYTES));
    }

    /** Opens a table that another process made. */
    static OrderTable open(Path path) throws IOException {
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        return new OrderTable(file, file.map(FileChannel.MapMode.READ_WRITE, 0, file.size()));
    }

    /** Returns where an order stands. */
    Status status(int order) {
        return STATUSES[(int) WORD.getVolatile(words, order * Integer.BYTES)];
    }

    /** Enters a new order that waits for its payment. */
    void place(int order) {
        update(order, Status.NONE, Status.WAIT_PAY);
    }

    /**
     * Marks an order as paid if it waits for that.
     *
     * @return how many rows changed, 0 or 1
     */
    int payIfWaiting(int order) {
        return update(order, Status.WAIT_PAY, Status.PAID);
    }

    /**
     * Closes an order if it is still unpaid.
     *
     * @return how many rows changed, 0 or 1
     */
    int closeIfUnpaid(int order) {
        return update(order, Status.WAIT_PAY, Status.CLOSED);
    }

    /** Returns how many orders stand there. */
    int count(Status status) {
        int count = 0;
        for (int order = 0; order < words.capacity() / Integer.BYTES; order++) {
            count += status(order) == status ? 1 : 0;
        }
        return count;
    }

    private int update(int order, Status from, Status to) {
        return WORD.compareAndSet(words, order * Integer.BYTES, from.ordinal(), to.ordinal()) ? 1 : 0;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

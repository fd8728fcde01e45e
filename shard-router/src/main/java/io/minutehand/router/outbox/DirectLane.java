package io.minutehand.router.outbox;

import io.minutehand.router.outbox.OutboxPass.Outcome;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Schedules jobs right after their commit, on one thread: those that were committed while a pass ran make up the next one. It never waits for
 * Redis or the database to come back: what does not succeed at once is the relay's. Thread-safe.
 */
final class DirectLane implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private record Waiting(String rowId, CompletableFuture<Delivery> answer) {
        void answer(Delivery delivery) {
            // Not here: code that is chained to it would hold up the lane.
            answer.completeAsync(() -> delivery);
        }
    }

    private final OutboxPass pass;
    private final int pageRows;
    private final int capacity;
    private final BlockingQueue<Waiting> queue = new LinkedBlockingQueue<>();
    private final Tally tally;
    private final Thread thread;
    private volatile boolean closed;

    DirectLane(OutboxPass pass, OutboxSettings settings) {
        this.pass = pass;
        this.pageRows = settings.pageRows();
        this.capacity = settings.directJobs();
        this.tally = new Tally("table=" + settings.table());
        this.thread = new Thread(this::run, "minutehand-outbox-" + NUMBER.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
    }

    CompletableFuture<Delivery> offer(String rowId) {
        Waiting waiting = new Waiting(rowId, new CompletableFuture<>());
        // A few more than the capacity when threads meet here: it bounds memory, it need not be exact.
        if (closed || queue.size() >= capacity) {
            tally.postponed(1);
            waiting.answer(Delivery.POSTPONED);
            return waiting.answer();
        }
        queue.add(waiting);
        if (closed) {
            postponeAll();
        }
        return waiting.answer();
    }

    private void run() {
        try {
            passes();
        } finally {
            // However it ends, nobody waits for it any more.
            closed = true;
            postponeAll();
        }
    }

    private void passes() {
        List<Waiting> batch = new ArrayList<>();
        while (!closed) {
            batch.clear();
            try {
                batch.add(queue.take());
                queue.drainTo(batch, pageRows - 1);
                Outcome outcome =
                        pass.overRows(batch.stream().map(Waiting::rowId).toList());
                tally.note(outcome);
                Delivery unclaimed = outcome.more() ? Delivery.POSTPONED : Delivery.NOT_FOUND;
                for (Waiting waiting : batch) {
                    waiting.answer(outcome.deliveries().getOrDefault(waiting.rowId(), unclaimed));
                }
                if (outcome.trouble() != null) {
                    // Each further pass would wait as long for the same answer.
                    postponeAll();
                }
            } catch (SQLException | RuntimeException | Error e) {
                // Errors too: they leave the rows as they were, and a lane that has ended would postpone all jobs for
                // ever.
                tally.failed(e, batch.size());
                batch.forEach(waiting -> waiting.answer(Delivery.POSTPONED));
                postponeAll();
            } catch (InterruptedException e) {
                // Only close() interrupts, but a data source may too.
                tally.postponed(batch.size());
                batch.forEach(waiting -> waiting.answer(Delivery.POSTPONED));
            }
        }
    }

    private void postponeAll() {
        List<Waiting> rest = new ArrayList<>();
        queue.drainTo(rest);
        tally.postponed(rest.size());
        rest.forEach(waiting -> waiting.answer(Delivery.POSTPONED));
    }

    OutboxStats stats() {
        return tally.stats();
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        Threads.join(thread);
    }
}

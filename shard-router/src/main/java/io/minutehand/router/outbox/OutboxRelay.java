package io.minutehand.router.outbox;

import io.minutehand.router.outbox.OutboxPass.Outcome;
import io.minutehand.router.outbox.OutboxTable.Row;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Schedules what was committed into the table of an outbox and is still there: after a crash between commit and schedule, or after Redis was away.
 * At least one must run for each table, in any process; many share the work, for each row is locked by who works on it.
 *
 * <p>It goes through the table in pages, in the order of due times, not faster than {@code rowsPerSecond}, rests for {@code period} when it has
 * seen all, and begins anew; it also begins anew when Redis comes back. A row that cannot be scheduled does not hold up those behind it: it is skipped until the next round while Redis is
 * away, full or slow, and set aside for good, with the reason in its column {@code set_aside}, when it is no job, when its topic may not be created, or
 * when another request has its id. Set that column to NULL to have it tried again. While no row can be scheduled the rests grow up to
 * {@code longestBackOff}; it goes on by itself.
 *
 * <p>Thread-safe. Has one thread, a daemon, and at most one connection at a time.
 */
public final class OutboxRelay implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final OutboxPass pass;
    private final OutboxSettings settings;
    private final Tally tally;
    private final Thread thread;
    private final CountDownLatch closing = new CountDownLatch(1);

    private @Nullable Row cursor;
    private Duration backOff = Duration.ZERO;

    /** Pages of which no row could be scheduled, in a row. */
    private int failedPages;

    /** Whether it went back to what is due first since that was tried with success. */
    private boolean wentBack;

    OutboxRelay(JobOutbox outbox) {
        this.pass = outbox.pass();
        this.settings = outbox.settings();
        this.tally = new Tally("relay of table=" + settings.table());
        this.thread = new Thread(this::run, "minutehand-outbox-relay-" + NUMBER.incrementAndGet());
        thread.setDaemon(true);
    }

    /** Starts a relay for the table of this outbox, with its settings. It is to be closed before the outbox's router. */
    public static OutboxRelay start(JobOutbox outbox) {
        OutboxRelay relay = new OutboxRelay(Objects.requireNonNull(outbox, "outbox"));
        relay.thread.start();
        return relay;
    }

    private void run() {
        try {
            Duration rest;
            do {
                rest = runOnce();
            } while (!closing.await(rest.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            // By close(): the pass was rolled back.
        }
    }

    /**
     * Works on one page.
     *
     * @return how long to rest before the next
     * @throws InterruptedException when the relay is closed meanwhile
     */
    Duration runOnce() throws InterruptedException {
        Outcome outcome;
        try {
            outcome = pass.overPage(cursor, settings.pageRows());
        } catch (SQLException | RuntimeException | Error e) {
            // Errors too: they leave the rows as they were, and a relay that has ended unseen is worse than one that
            // tries on.
            if (closing.getCount() == 0) {
                throw new InterruptedException("closed during a pass");
            }
            tally.failed(e, 0);
            cursor = null;
            return grow();
        }
        tally.note(outcome);
        int rows = outcome.claimed().size();
        boolean atTheEnd = rows < settings.pageRows() && !outcome.more();
        boolean wasFirst = cursor == null;
        cursor = atTheEnd ? null : outcome.claimed().get(rows - 1);
        if (outcome.trouble() != null && outcome.count(Delivery.SCHEDULED) == 0) {
            failedPages++;
            return grow();
        }
        if (wasFirst) {
            wentBack = false;
        } else if (failedPages > 1 && rows > 0 && !wentBack) {
            // Redis was away while it went on from page to page: what is due first has been passed over. Once only, for
            // it may be
            // that just the jobs of the first pages cannot be stored, with one primary of a Cluster down.
            cursor = null;
            wentBack = true;
            atTheEnd = false;
        }
        failedPages = 0;
        backOff = Duration.ZERO;
        return atTheEnd
                ? settings.period()
                : Duration.ofSeconds(1).multipliedBy(rows).dividedBy(settings.rowsPerSecond());
    }

    private Duration grow() {
        Duration next = backOff.isZero() ? settings.period() : backOff.multipliedBy(2);
        backOff = next.compareTo(settings.longestBackOff()) < 0 ? next : settings.longestBackOff();
        return backOff;
    }

    /** What it has done. */
    public OutboxStats stats() {
        return tally.stats();
    }

    /** Ends it; a pass that runs is rolled back, and done again by the next relay. Calling it again does nothing. */
    @Override
    public void close() {
        closing.countDown();
        thread.interrupt();
        Threads.join(thread);
    }
}

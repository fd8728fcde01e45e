package io.minutehand.router.outbox;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts what passes did, and says once when trouble begins and once when it is over. Written by one thread, read by any. */
final class Tally {
    private static final Logger log = LoggerFactory.getLogger(Tally.class);

    private final String who;
    private final AtomicLong scheduled = new AtomicLong();
    private final AtomicLong setAside = new AtomicLong();
    private final AtomicLong postponed = new AtomicLong();
    private volatile @Nullable String trouble;

    /** Whether the trouble is the database's. */
    private boolean databaseFailed;

    Tally(String who) {
        this.who = who;
    }

    void note(OutboxPass.Outcome outcome) {
        scheduled.addAndGet(outcome.count(Delivery.SCHEDULED));
        setAside.addAndGet(outcome.count(Delivery.SET_ASIDE));
        postponed.addAndGet(outcome.count(Delivery.POSTPONED));
        // A pass without rows shows that the database answers, and says nothing of Redis.
        if (outcome.trouble() != null || !outcome.claimed().isEmpty() || databaseFailed) {
            state(outcome.trouble());
        }
        databaseFailed = false;
    }

    /** @param failure of the database */
    void failed(Throwable failure, int rows) {
        postponed.addAndGet(rows);
        databaseFailed = true;
        state(failure.getMessage() == null ? failure.toString() : failure.getMessage());
    }

    void postponed(int rows) {
        postponed.addAndGet(rows);
    }

    private void state(@Nullable String now) {
        boolean before = trouble != null;
        trouble = now;
        if (now != null && !before) {
            log.warn("outbox: {} leaves jobs in the table for later reason={}", who, now);
        } else if (now == null && before) {
            log.info("outbox: {} schedules again", who);
        }
    }

    OutboxStats stats() {
        return new OutboxStats(scheduled.get(), setAside.get(), postponed.get(), trouble);
    }
}

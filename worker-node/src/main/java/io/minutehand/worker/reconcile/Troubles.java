package io.minutehand.worker.reconcile;

import io.minutehand.core.service.OneLine;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Says once when something begins to fail, and once when it works again; and how long to wait in between. Used by one thread. */
final class Troubles {
    private static final Logger log = LoggerFactory.getLogger(Reconciler.class);
    private static final long FIRST_PAUSE_MS = 250;
    private static final long LONGEST_PAUSE_MS = 5000;

    private final String name;
    private final String what;
    private final Level level;
    private boolean failing;
    private long sinceNs;
    private int inARow;

    /**
     * Nothing failed yet.
     *
     * @param name the reconciliation
     * @param what to say when it fails
     * @param level of that line: ERROR if it does not pass by itself
     */
    Troubles(String name, String what, Level level) {
        this.name = name;
        this.what = what;
        this.level = level;
    }

    /**
     * It failed.
     *
     * @return how long to wait before the next try, ns
     */
    long failed(Throwable cause) {
        if (!failing) {
            log.atLevel(level).log("reconcile: {} name={} cause=\"{}\"; trying on", what, name, OneLine.of(cause));
            failing = true;
            sinceNs = System.nanoTime();
        }
        log.debug("reconcile: {} name={}", what, name, cause);
        long pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS << Math.min(inARow++, 10));
        return TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextLong(pauseMs / 2, pauseMs + 1));
    }

    /** It worked. */
    void worked() {
        inARow = 0;
        if (failing) {
            failing = false;
            log.info(
                    "reconcile: goes on name={} was=\"{}\" for_ms={}",
                    name,
                    what,
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNs));
        }
    }
}

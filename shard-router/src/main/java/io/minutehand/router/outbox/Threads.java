package io.minutehand.router.outbox;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the threads of this package end. */
final class Threads {
    private static final Logger log = LoggerFactory.getLogger(Threads.class);
    private static final long LIMIT_MS = TimeUnit.SECONDS.toMillis(30);

    private Threads() {}

    /** Waits for a thread that was told to end. A database that does not answer must not hold the caller for ever. */
    static void join(Thread thread) {
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(LIMIT_MS);
            if (thread.isAlive()) {
                log.warn("outbox: thread={} still waits for the database; it ends when that answers", thread.getName());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

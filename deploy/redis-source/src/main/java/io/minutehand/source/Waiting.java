package io.minutehand.source;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits for a condition that has a name, so that a failure says what did not happen and what was seen instead. */
public final class Waiting {

    private static final long POLL_NS = Duration.ofMillis(10).toNanos();

    private Waiting() {}

    /**
     * Blocks until the condition holds, looking every 10 ms. A check that throws counts as "not yet".
     *
     * @param what  the condition in words, as the end of "waited for ..."
     * @param state what to show on failure
     * @throws IllegalStateException if it does not hold in time, or if the thread is interrupted
     */
    public static void until(String what, Duration limit, Callable<Boolean> condition, Supplier<String> state) {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        Exception last = null;
        while (true) {
            try {
                if (condition.call()) {
                    return;
                }
                last = null;
            } catch (GaveUp e) {
                throw e;
            } catch (Exception e) {
                last = e;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("Interrupted while waiting for " + what, last);
            }
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(
                        "Waited " + limit.toSeconds() + " s for " + what + " in vain; " + state.get(), last);
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    /** Thrown by a condition that can no longer come true, to end the wait at once. */
    public static final class GaveUp extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        /** With what was seen, and why waiting any longer is of no use. */
        public GaveUp(String message) {
            super(message);
        }
    }
}

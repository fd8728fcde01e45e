package io.minutehand.router;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Tells when every call that was accepted up to a moment has its answer. Each call belongs to the wave of its time; a flush closes the wave,
 * opens the next, and waits for all closed waves to run out. So calls that come during a flush do not prolong it, and counting costs a call
 * one increment. Thread-safe.
 */
final class Waves {
    /** Calls accepted between two flushes. */
    static final class Wave {
        private final AtomicLong open = new AtomicLong();
        private final CompletableFuture<Void> ranOut = new CompletableFuture<>();
        private volatile boolean closed;

        /** A call of this wave has its answer. */
        void leave() {
            if (open.decrementAndGet() == 0 && closed) {
                ranOut.complete(null);
            }
        }

        private void closeUp() {
            closed = true;
            if (open.get() == 0) {
                ranOut.complete(null);
            }
        }
    }

    /** For flush and close only, which hold it for a few instructions. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Null once no more calls are accepted. Written under the lock. */
    private volatile @Nullable Wave current = new Wave();

    /** Closed waves that had not run out. Guarded by the lock. */
    private final List<CompletableFuture<Void>> running = new ArrayList<>();

    /** Counts a call in; null when no more are accepted. */
    @Nullable
    Wave enter() {
        while (true) {
            Wave wave = current;
            if (wave == null) {
                return null;
            }
            wave.open.incrementAndGet();
            // A flush may have closed the wave in between, and found it empty: then this call belongs to the next.
            if (!wave.closed) {
                return wave;
            }
            wave.leave();
        }
    }

    /** Completes when all calls accepted so far have their answer. */
    CompletableFuture<Void> turn() {
        return turn(true);
    }

    /** As {@link #turn}, and from now on no calls are accepted. */
    CompletableFuture<Void> close() {
        return turn(false);
    }

    boolean closed() {
        return current == null;
    }

    private CompletableFuture<Void> turn(boolean goOn) {
        lock.lock();
        try {
            Wave ending = current;
            if (ending != null) {
                current = goOn ? new Wave() : null;
                ending.closeUp();
                running.add(ending.ranOut);
            }
            running.removeIf(CompletableFuture::isDone);
            return CompletableFuture.allOf(running.toArray(CompletableFuture[]::new));
        } finally {
            lock.unlock();
        }
    }
}

package io.minutehand.router;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the futures of callers, on threads of its own: what callers chain to a future runs there, never on the router's loop or a Netty
 * thread. One thread does it all while it gets on; when it stands still with answers waiting (a caller's code blocks, perhaps for an answer
 * that waits behind it), {@link #tick} adds another, up to {@link #THREADS}. So code that blocks delays answers but cannot lock the router up.
 * Thread-safe.
 */
final class Callbacks {
    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);

    /** Threads at most: more than this many blocked callbacks at once wait for each other. */
    private static final int THREADS = 256;

    private static final long IDLE_S = 5;

    private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger drainers = new AtomicInteger();
    private final ExecutorService threads;
    private volatile long completed;
    /** The loop's: what it saw at its last look. */
    private long seenCompleted;

    Callbacks(String name) {
        AtomicInteger number = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_S, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new CallbackThread(task, name + "-callbacks-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** Marks the threads on which callers' code must not wait for the router as a whole. */
    private static final class CallbackThread extends Thread {
        CallbackThread(Runnable task, String name) {
            super(task, name);
        }
    }

    /** Whether the current thread runs callers' callbacks. */
    static boolean onCallbackThread() {
        return Thread.currentThread() instanceof CallbackThread;
    }

    /** Adds an answer; {@link #wake} gets it delivered. */
    void add(Runnable answer) {
        answers.add(answer);
    }

    /** Makes sure that somebody delivers what was added. */
    void wake() {
        if (drainers.get() == 0 && !answers.isEmpty() && drainers.compareAndSet(0, 1)) {
            start();
        }
    }

    /** Whether answers wait for a thread. */
    boolean pending() {
        return !answers.isEmpty();
    }

    /** To be called by the loop every few ms: adds a thread if nothing moved since the last call. */
    void tick() {
        long now = completed;
        boolean stuck = now == seenCompleted && !answers.isEmpty();
        seenCompleted = now;
        int present = drainers.get();
        if (stuck && present > 0 && present < THREADS && drainers.compareAndSet(present, present + 1)) {
            start();
        }
    }

    private void start() {
        try {
            threads.execute(this::drain);
        } catch (RejectedExecutionException closed) {
            // An answer that comes after the end is still one that somebody waits for.
            drain();
        }
    }

    /** Ends the threads once all answers are delivered; code of callers that blocks is not waited for. */
    void close() {
        wake();
        threads.shutdown();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // A sign of life: a lost count between two drainers does no harm.
    private void drain() {
        while (true) {
            Runnable answer;
            while ((answer = answers.poll()) != null) {
                try {
                    answer.run();
                } catch (Throwable failure) {
                    log.error("router: completing a future failed", failure);
                }
                completed++;
            }
            drainers.decrementAndGet();
            if (answers.isEmpty() || !drainers.compareAndSet(0, 1)) {
                return;
            }
        }
    }
}

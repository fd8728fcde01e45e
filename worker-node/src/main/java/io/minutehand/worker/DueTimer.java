package io.minutehand.worker;

import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a node. Everything that a node knows of its shards is touched by this thread alone: replies of Redis, ends of handlers and
 * timers are tasks on it, so none of that state has a lock. Tasks are short; handlers run elsewhere.
 *
 * <p>It sleeps exactly until its next timer, by {@code nanoTime}, which no step of the wall clock moves. The client library's timers were
 * rejected: they tick every 100 ms.
 */
final class DueTimer implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DueTimer.class);
    private static final int TASKS_A_PASS = 1000;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>((a, b) -> Long.signum(a.atNs - b.atNs));
    private final String name;
    private final LongSupplier nanoTime;
    private volatile @Nullable Thread thread;
    private volatile boolean parked;
    private volatile boolean closed;

    DueTimer(String name) {
        this(name, System::nanoTime);
    }

    /** A timer that goes by another clock, for a test that drives it by hand: it must not be started. */
    DueTimer(String name, LongSupplier nanoTime) {
        this.name = name;
        this.nanoTime = nanoTime;
    }

    /** The time that the timers go by. */
    long nowNs() {
        return nanoTime.getAsLong();
    }

    void start() {
        Thread started = new Thread(this::run, name);
        thread = started;
        started.start();
    }

    /** Runs a task on the node's thread, soon. Any thread may call it; after the close the task runs on nobody's. */
    @Override
    public void execute(Runnable task) {
        if (closed) {
            throw new java.util.concurrent.RejectedExecutionException("node " + name + " is closed");
        }
        tasks.add(task);
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** A timer that is not set; only the node's thread may touch it. */
    Timer timer(Runnable task) {
        return new Timer(task);
    }

    /** One pass: the waiting tasks (a bounded number) and the timers whose time has come; returns how many ran. */
    int runOnce() {
        int ran = 0;
        for (Runnable task = tasks.poll(); task != null; task = ran < TASKS_A_PASS ? tasks.poll() : null) {
            run(task);
            ran++;
        }
        long nowNs = nowNs();
        for (Timer next = timers.peek(); next != null && next.atNs - nowNs <= 0; next = timers.peek()) {
            timers.poll();
            next.set = false;
            run(next.task);
            ran++;
        }
        return ran;
    }

    private void run() {
        while (!closed) {
            if (runOnce() > 0) {
                continue;
            }
            parked = true;
            if (tasks.isEmpty() && !closed) {
                Timer next = timers.peek();
                if (next == null) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, Math.max(1, next.atNs - nowNs()));
                }
            }
            parked = false;
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            // The node must outlive a defect in one of its tasks; whatever the task held is healed by looks and
            // deadlines.
            log.error("node: task failed", failure);
        }
    }

    /** Ends the thread after the task that it runs. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** A task with a time. Setting it again moves it. */
    final class Timer {
        private final Runnable task;
        private long atNs;
        private boolean set;

        private Timer(Runnable task) {
            this.task = task;
        }

        /** Runs the task at this {@code nanoTime}, or at once when it has passed. */
        void setAt(long newAtNs) {
            if (set) {
                if (atNs == newAtNs) {
                    return;
                }
                timers.remove(this);
            }
            atNs = newAtNs;
            set = true;
            timers.add(this);
        }

        /** Runs the task at this {@code nanoTime} unless it is set for sooner. */
        void setBy(long newAtNs) {
            if (!set || newAtNs - atNs < 0) {
                setAt(newAtNs);
            }
        }

        void cancel() {
            if (set) {
                timers.remove(this);
                set = false;
            }
        }
    }
}

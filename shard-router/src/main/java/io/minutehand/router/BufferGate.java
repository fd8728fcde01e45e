package io.minutehand.router;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bounds the memory of calls that wait for their answer. Whoever finds no room waits in a queue, first come first served, on a lock that
 * lets a virtual thread go; while there is a queue nobody overtakes it. Waiters are woken once a quarter is free, not by each answer: else a
 * caller that fills the buffer would be switched in and out for every single job. Thread-safe.
 */
final class BufferGate {
    /** How a wait for room ended. */
    enum Entry {
        TAKEN,
        TIMED_OUT,
        INTERRUPTED,
        CLOSED
    }

    private record Waiter(Condition turn) {}

    private final long limitBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final ArrayDeque<Waiter> queue = new ArrayDeque<>();
    /** The queue's size; written under the lock. */
    private volatile int waiting;

    private volatile boolean closed;

    BufferGate(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    long usedBytes() {
        return usedBytes.get();
    }

    long limitBytes() {
        return limitBytes;
    }

    int waiting() {
        return waiting;
    }

    /** Takes bytes if there is room and nobody waits; never blocks. */
    boolean tryAcquire(long bytes) {
        return waiting == 0 && !closed && take(bytes);
    }

    /** Takes bytes, waiting for room for at most this long; an interrupted caller keeps its interrupt flag. */
    Entry acquire(long bytes, long timeoutNs) {
        lock.lock();
        Waiter me = new Waiter(lock.newCondition());
        queue.add(me);
        waiting = queue.size();
        try {
            long leftNs = timeoutNs;
            while (!closed) {
                if (queue.peekFirst() == me && take(bytes)) {
                    return Entry.TAKEN;
                }
                if (leftNs <= 0) {
                    return Entry.TIMED_OUT;
                }
                leftNs = me.turn.awaitNanos(leftNs);
            }
            return Entry.CLOSED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Entry.INTERRUPTED;
        } finally {
            queue.remove(me);
            waiting = queue.size();
            signalHead();
            lock.unlock();
        }
    }

    /** Gives bytes back. */
    void release(long bytes) {
        long left = usedBytes.addAndGet(-bytes);
        if (waiting > 0 && left <= limitBytes - limitBytes / 4) {
            lock.lock();
            try {
                signalHead();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Refuses all who wait, and all who come. */
    void close() {
        closed = true;
        lock.lock();
        try {
            queue.forEach(waiter -> waiter.turn.signal());
        } finally {
            lock.unlock();
        }
    }

    private void signalHead() {
        if (!queue.isEmpty()) {
            Objects.requireNonNull(queue.peekFirst()).turn.signal();
        }
    }

    private boolean take(long bytes) {
        while (true) {
            long used = usedBytes.get();
            if (used + bytes > limitBytes) {
                return false;
            }
            if (usedBytes.compareAndSet(used, used + bytes)) {
                return true;
            }
        }
    }
}

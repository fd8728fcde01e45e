package io.minutehand.router;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a router: replies of Redis are handed to it as tasks, and between them it runs a duty. So what tasks and duty share needs
 * no locks, and Netty's threads do no work of ours. It sleeps while there is nothing to do.
 */
final class RouterLoop implements Executor {
    private static final Logger log = LoggerFactory.getLogger(RouterLoop.class);

    /** What the loop does between tasks. */
    interface Duty {
        /** Does bounded work and returns how much. */
        int runOnce(long nowNs);

        /** Whether work came in that another thread may have added just now. */
        boolean ready();

        /** How long the loop may sleep when nobody wakes it, ns. */
        long sleepNs();
    }

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean parked;
    private volatile boolean stopping;
    private volatile boolean stopped;
    private volatile @Nullable Duty duty;

    RouterLoop(String name) {
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Adds the duty: tasks run before, too. */
    void begin(Duty newDuty) {
        duty = newDuty;
        LockSupport.unpark(thread);
    }

    /** Runs a task on the loop, soon. */
    @Override
    public void execute(Runnable task) {
        if (stopped) {
            throw new RejectedExecutionException(thread.getName() + " has stopped");
        }
        tasks.add(task);
        wake();
    }

    /** Ends a sleep; costs next to nothing when the loop is awake. */
    void wake() {
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Ends the loop after the tasks that it has. */
    void stop() {
        stopping = true;
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!stopping || !tasks.isEmpty()) {
            try {
                if (runOnce() == 0 && !stopping) {
                    sleep();
                }
            } catch (Throwable bug) {
                log.error("router: the loop goes on after a failure", bug);
            }
        }
        stopped = true;
    }

    private int runOnce() {
        int done = 0;
        Runnable task;
        while ((task = tasks.poll()) != null) {
            guarded(task);
            done++;
        }
        Duty present = duty;
        return present == null ? done : done + present.runOnce(System.nanoTime());
    }

    /** One task that fails must not take others with it. */
    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (Throwable bug) {
            log.error("router: a task of the loop failed", bug);
        }
    }

    private void sleep() {
        Duty present = duty;
        parked = true;
        // Who adds something after this look sees that the loop is parked, and wakes it.
        if (tasks.isEmpty() && (present == null || !present.ready())) {
            LockSupport.parkNanos(this, present == null ? Long.MAX_VALUE : present.sleepNs());
        }
        parked = false;
    }
}

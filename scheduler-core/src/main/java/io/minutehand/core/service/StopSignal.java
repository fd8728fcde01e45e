package io.minutehand.core.service;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a service end in good order when its process is told to (SIGTERM, SIGINT): the thread that runs it waits for the signal and closes what it has
 * opened; the JVM goes only then, or when that takes too long. The thread may end with {@link System#exit}: nobody waits for the thread.
 */
public final class StopSignal implements AutoCloseable {
    /** Longer than the stop grace of a node, 30 s; whoever ends processes sooner does so by SIGKILL. */
    private static final long LONGEST_STOP_S = 40;

    private final CountDownLatch told = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    private StopSignal() {}

    /** Listens from now on. To be opened first, so that it is closed last. */
    public static StopSignal listen() {
        StopSignal signal = new StopSignal();
        Runtime.getRuntime().addShutdownHook(new Thread(signal::stop, "minutehand-stop"));
        return signal;
    }

    private void stop() {
        told.countDown();
        try {
            closed.await(LONGEST_STOP_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the signal. */
    public void await() throws InterruptedException {
        told.await();
    }

    /** Everything is closed: the JVM may go. */
    @Override
    public void close() {
        closed.countDown();
    }
}

package io.minutehand.worker;

import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs handlers: as many at once as there are slots, each with a time-out. A job that was handed out before without an answer may be what
 * kills its node, so such jobs run one at a time ({@link Suspects}), and after too many deliveries become dead letters unrun; so does at once a
 * job whose stored body is damaged. A handler that is over
 * its time is interrupted; when it ignores that for a second, its attempt counts as failed, and its slot stays taken ("stuck"). Only the
 * node's thread touches this, but for what says otherwise.
 */
final class HandlerPool {
    private static final Logger log = LoggerFactory.getLogger(HandlerPool.class);

    /** Deliveries that a job gets even when its policy has fewer attempts: the death of a node is not the job's failure. */
    private static final int LEAST_DELIVERIES = 3;

    private static final long SWEEP_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int LINES_A_SECOND = 20;

    private final NodeEngine engine;
    private final Telemetry telemetry;
    private final DueTimer timer;
    private final ExecutorService executor;
    private final Suspects suspects;
    private final Set<Running> all = new HashSet<>();
    private final LogLimiter lines = new LogLimiter(LINES_A_SECOND);
    private final DueTimer.Timer sweepTimer;

    /** Set on threads that are in code of the user's for this node. */
    private final ThreadLocal<Boolean> userCode = new ThreadLocal<>();

    private int stuck;

    HandlerPool(NodeEngine engine, Telemetry telemetry, DueTimer timer, ExecutorService executor) {
        this.engine = engine;
        this.telemetry = telemetry;
        this.timer = timer;
        this.executor = executor;
        this.suspects = new Suspects(
                topic -> engine.slots().take(topic),
                this::execute,
                shard -> engine.drainer().pump(shard));
        this.sweepTimer = timer.timer(this::sweep);
    }

    Suspects suspects() {
        return suspects;
    }

    /**
     * Takes popped or recovered jobs.
     *
     * @param slotted whether a slot is reserved for each; a job without one gets it when its turn among the suspects comes
     */
    void accept(Shard shard, List<HandedJob> jobs, long handedNs, boolean slotted) {
        List<Running> first = new ArrayList<>();
        for (HandedJob handed : jobs) {
            Running running = new Running(shard, handed, this, handedNs, slotted);
            all.add(running);
            if (handed.damage() != null) {
                running.ended = true;
                freeSlot(running);
                engine.completions().bury(running, handed.damage(), null);
            } else if (deliveredTooOften(running)) {
                running.ended = true;
                freeSlot(running);
                String reason =
                        "handed out " + running.delivery() + " times without an answer: it may be what ends its node";
                engine.completions().bury(running, reason, null);
            } else if (engine.stopping()) {
                handBack(running);
            } else if (running.atMostOnce()) {
                first.add(running);
            } else if (running.delivery() > 1 || !slotted) {
                // A job in line holds no slot, or the jobs of a dead node would keep the fresh ones out.
                freeSlot(running);
                suspects.add(running);
            } else {
                execute(running);
            }
        }
        if (!first.isEmpty()) {
            engine.completions().ackFirst(shard, first);
        }
        suspects.next();
        sweepTimer.setBy(System.nanoTime() + SWEEP_NS);
    }

    private static boolean deliveredTooOften(Running running) {
        RetryPolicy policy = running.shard().topic().retry();
        int limit = Math.max(policy.maxAttempts(), LEAST_DELIVERIES);
        return running.delivery() > 1 && running.attempt() + running.delivery() - 1 > limit;
    }

    /** Of a topic that runs jobs at most once: Redis has answered the ack that comes before the run. */
    void acknowledged(Running running, boolean good) {
        if (running.ended) {
            return;
        }
        if (good) {
            running.acked = true;
            execute(running);
        } else {
            running.ended = true;
            freeSlot(running);
            forget(running);
        }
    }

    private void execute(Running running) {
        try {
            executor.execute(running);
        } catch (Throwable noThread) {
            // Out of threads or closed. What follows is a task of its own: the caller is in the middle of a batch.
            lines.log(left -> log.error("handlers: cannot start {} cause=\"{}\"{}", running, noThread, left));
            timer.execute(() -> {
                suspects.ended(running);
                freeSlot(running);
                running.ended = true;
                if (running.acked) {
                    forget(running);
                } else {
                    engine.completions().postpone(running);
                }
            });
        }
    }

    /** Runs a call of the user's code on the calling thread, so that {@link #onThisThread} is true in it. */
    void call(UserCode code) throws Exception {
        userCode.set(true);
        try {
            code.run();
        } finally {
            userCode.remove();
        }
    }

    /** Code of the user's. */
    interface UserCode {
        void run() throws Exception;
    }

    /** Whether the calling thread is in a handler or a call-back of this node. */
    boolean onThisThread() {
        return userCode.get() != null;
    }

    /** Called on the handler's thread, first. */
    void starting(Running running, long latenessUs) {
        telemetry.lateness(running.topic(), latenessUs);
    }

    /** Called on the handler's thread, last. */
    void returned(Running running, boolean ran, @Nullable Throwable thrown) {
        if (ran) {
            telemetry.handlerTime(running.topic(), running.elapsedUs());
        }
        try {
            timer.execute(() -> settle(running, thrown));
        } catch (RejectedExecutionException closed) {
            log.warn("handlers: ended after the node was closed, the job will run again {}", running);
        }
    }

    private void settle(Running running, @Nullable Throwable thrown) {
        if (running.stuck) {
            stuck--;
            running.stuck = false;
        }
        freeSlot(running);
        if (running.ended) {
            suspects.ended(running);
            return;
        }
        running.ended = true;
        if (running.lost()) {
            lines.log(left -> log.info("handlers: outcome of a lost job dropped {}{}", running, left));
            forget(running);
        } else {
            engine.completions().ended(running, thrown);
        }
    }

    private void freeSlot(Running running) {
        if (running.slotted) {
            running.slotted = false;
            engine.slots().release(running.shard().topic(), 1);
        }
    }

    /** Gives a job back that was not started. */
    private void handBack(Running running) {
        running.ended = true;
        freeSlot(running);
        engine.completions().nack(running);
    }

    /** Redis knows how the job ended, or has given it to another: nothing of it is left here. */
    void forget(Running running) {
        all.remove(running);
        // Only now: were the next one to end this node, a job whose end is not stored would be taken for the culprit.
        suspects.ended(running);
        suspects.next();
        engine.checkStopped();
    }

    /** The receipt was refused. */
    void lost(Running running) {
        telemetry.count(Counter.STALE, running.topic(), 1);
        lines.log(left -> log.warn("handlers: job lost, another node may run it {}{}", running, left));
        running.lose();
        if (suspects.remove(running)) {
            running.ended = true;
            forget(running);
        }
    }

    private void sweep() {
        long nowNs = System.nanoTime();
        for (Running running : List.copyOf(all)) {
            if (running.ended || !running.timeIsOver(nowNs)) {
                continue;
            }
            if (!running.timedOut) {
                running.timedOut = true;
                running.interrupt();
            } else if (running.timeIsOver(nowNs - STUCK_NS)) {
                stuck(running);
            }
        }
        if (!all.isEmpty()) {
            sweepTimer.setAt(nowNs + SWEEP_NS);
        }
    }

    private void stuck(Running running) {
        running.ended = true;
        running.stuck = true;
        stuck++;
        telemetry.count(Counter.STUCK, running.topic(), 1);
        log.error(
                "handlers: stuck, ignores its interrupt and keeps its slot {} stuck={} slots={}",
                running,
                stuck,
                engine.slots().total());
        // It has shown what it does, and that is not ending the node: the next may try.
        suspects.ended(running);
        if (running.lost()) {
            forget(running);
        } else {
            engine.completions().ended(running, timeOut(running));
        }
        suspects.next();
    }

    static Exception timeOut(Running running) {
        return new TimeoutException("handler ran longer than its time-out of "
                + running.shard().topic().timeout());
    }

    /** For a stop: gives back what waits; with {@code now} interrupts and gives back what runs, too. */
    void stop(boolean now) {
        suspects.clear().forEach(this::handBack);
        if (!now) {
            return;
        }
        for (Running running : List.copyOf(all)) {
            if (!running.ended) {
                running.ended = true;
                running.lose();
                if (running.acked) {
                    forget(running);
                } else {
                    engine.completions().nack(running);
                }
            }
        }
    }

    /** Ends the threads; handlers that still run are interrupted. */
    void close() {
        executor.shutdownNow();
    }

    ExecutorService executor() {
        return executor;
    }

    /** The jobs that this node has. */
    Collection<Running> all() {
        return all;
    }

    /** Threads that are in a handler now. */
    int running() {
        // A stuck one stays in the set until its outcome is stored: it counts once.
        return stuck
                + (int) all.stream()
                        .filter(running -> running.inHandler() && !running.stuck)
                        .count();
    }

    int stuck() {
        return stuck;
    }
}

package io.minutehand.worker;

import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs handlers: as many at once as there are slots, each with a time-out. A job that was handed out before without an answer may be what
 * kills its node, so such jobs run one at a time, and after too many deliveries become dead letters unrun. A handler that is over its time
 * is interrupted; when it ignores that for a second, its attempt counts as failed, and its slot stays taken ("stuck"). Only the
 * node's thread touches this, but for {@link #starting} and {@link #ended}.
 */
final class HandlerPool {
    private static final Logger log = LoggerFactory.getLogger(HandlerPool.class);

    /** Deliveries that a job gets even when its policy has fewer attempts: the death of a node is not the job's failure. */
    private static final int LEAST_DELIVERIES = 3;

    private static final long SWEEP_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(1);

    private final NodeEngine engine;
    private final Telemetry telemetry;
    private final DueTimer timer;
    private final ExecutorService executor;
    private final Set<Running> all = new HashSet<>();
    private final Deque<Running> suspects = new ArrayDeque<>();
    private final DueTimer.Timer sweepTimer;
    private @Nullable Running suspectRunning;
    private int stuck;

    HandlerPool(NodeEngine engine, Telemetry telemetry, DueTimer timer, ExecutorService executor) {
        this.engine = engine;
        this.telemetry = telemetry;
        this.timer = timer;
        this.executor = executor;
        this.sweepTimer = timer.timer(this::sweep);
    }

    /** Takes popped or recovered jobs, whose slots are reserved. */
    void accept(Shard shard, List<HandedJob> jobs, long handedNs) {
        List<Running> first = new ArrayList<>();
        for (HandedJob handed : jobs) {
            Running running = new Running(shard, handed, this, handedNs);
            all.add(running);
            if (deliveredTooOften(running)) {
                running.ended = true;
                freeSlot(running);
                engine.completions()
                        .bury(
                                running,
                                "handed out " + running.delivery()
                                        + " times without an answer: it may be what ends its node",
                                null);
            } else if (acknowledged(running)) {
                first.add(running);
            } else {
                start(running);
            }
        }
        if (!first.isEmpty()) {
            engine.completions().ackFirst(shard, first);
        }
        sweepTimer.setBy(System.nanoTime() + SWEEP_NS);
    }

    private static boolean deliveredTooOften(Running running) {
        RetryPolicy policy = running.shard().topic().retry();
        int limit = Math.max(policy.maxAttempts(), LEAST_DELIVERIES);
        return running.delivery() > 1 && running.attempt() + running.delivery() - 1 > limit;
    }

    /** Starts a job, now or when the suspect before it has ended. */
    void start(Running running) {
        if (engine.stopping() && !acknowledged(running)) {
            handBack(running);
        } else if (running.delivery() < 2) {
            executor.execute(running);
        } else if (suspectRunning == null) {
            suspectRunning = running;
            executor.execute(running);
        } else {
            suspects.add(running);
        }
    }

    private static boolean acknowledged(Running running) {
        return running.shard().topic().settings().delivery() == Delivery.AT_MOST_ONCE;
    }

    /** Called on the handler's thread. */
    void starting(Running running, long latenessUs) {
        telemetry.lateness(running.topic(), latenessUs);
    }

    /** Called on the handler's thread, last. */
    void ended(Running running, boolean ran, @Nullable Throwable thrown) {
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
        if (suspectRunning == running) {
            suspectRunning = null;
            Running next = suspects.poll();
            if (next != null) {
                start(next);
            }
        }
        if (running.stuck) {
            stuck--;
            running.stuck = false;
        }
        freeSlot(running);
        if (running.ended) {
            return;
        }
        running.ended = true;
        if (running.lost()) {
            log.info("handlers: outcome of a lost job dropped {}", running);
            forget(running);
        } else {
            engine.completions().ended(running, thrown);
        }
    }

    private void freeSlot(Running running) {
        if (!running.slotFreed) {
            running.slotFreed = true;
            engine.slots().release(running.shard().topic(), 1);
        }
    }

    /** Gives a job back that was not started. */
    private void handBack(Running running) {
        running.ended = true;
        freeSlot(running);
        engine.completions().nack(running);
    }

    /** Redis knows how the job ended: nothing of it is left here. */
    void forget(Running running) {
        all.remove(running);
        engine.checkStopped();
    }

    /** The receipt was refused. */
    void lost(Running running) {
        telemetry.count(Counter.STALE, running.topic(), 1);
        log.warn("handlers: job lost, another node may run it {}", running);
        running.lose();
        if (!running.started() && suspects.remove(running)) {
            running.ended = true;
            freeSlot(running);
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
                running.ended = true;
                running.stuck = true;
                stuck++;
                telemetry.count(Counter.STUCK, running.topic(), 1);
                log.error(
                        "handlers: stuck, ignores its interrupt and keeps its slot {} stuck={} slots={}",
                        running,
                        stuck,
                        engine.slots().total());
                engine.completions().ended(running, timeOut(running));
            }
        }
        if (!all.isEmpty()) {
            sweepTimer.setAt(nowNs + SWEEP_NS);
        }
    }

    static Exception timeOut(Running running) {
        return new java.util.concurrent.TimeoutException("handler ran longer than its time-out of "
                + running.shard().topic().timeout());
    }

    /** For a stop: gives back what waits; with {@code now} interrupts and gives back what runs, too. */
    void stop(boolean now) {
        List<Running> waiting = new ArrayList<>(suspects);
        suspects.clear();
        waiting.forEach(this::handBack);
        if (now) {
            for (Running running : List.copyOf(all)) {
                if (!running.ended) {
                    running.ended = true;
                    running.interrupt();
                    if (acknowledged(running)) {
                        forget(running);
                    } else {
                        engine.completions().nack(running);
                    }
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

    Collection<Running> all() {
        return all;
    }

    int stuck() {
        return stuck;
    }
}

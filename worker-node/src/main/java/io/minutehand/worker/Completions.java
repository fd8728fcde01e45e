package io.minutehand.worker;

import io.minutehand.core.job.Limits;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.worker.StoreCalls.Tries;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis how jobs ended: acks, retries, dead letters. Acks are grouped by shard for a few milliseconds, and everything is
 * repeated until it is answered: until then the job's deadline is extended ({@link Extensions}), so an outage that ends before the deadline costs
 * nothing. Only the node's thread touches this.
 */
final class Completions {
    private static final Logger log = LoggerFactory.getLogger(Completions.class);
    private static final long LINGER_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int FLUSH_JOBS = 64;
    private static final int FAILURE_LINES_A_SECOND = 100;
    private static final int REFUSED_LINES_A_SECOND = 20;
    private static final long POSTPONED_MS = 1000;

    private final JobStore store;
    private final NodeEngine engine;
    private final Telemetry telemetry;
    private final LogLimiter failureLines = new LogLimiter(FAILURE_LINES_A_SECOND);
    private final LogLimiter refusedLines = new LogLimiter(REFUSED_LINES_A_SECOND);
    private final DueTimer timer;
    private final int mostUnanswered;
    private int unanswered;
    private int callbacks;

    Completions(JobStore store, NodeEngine engine, Telemetry telemetry, DueTimer timer, int slots) {
        this.store = store;
        this.engine = engine;
        this.telemetry = telemetry;
        this.timer = timer;
        this.mostUnanswered = 8 * slots + 1000;
    }

    /** Call-backs of the user's that have not returned. */
    int callbacks() {
        return callbacks;
    }

    /** Whether so many outcomes wait for Redis that no more jobs should be taken. */
    boolean overloaded() {
        return unanswered > mostUnanswered;
    }

    int unanswered() {
        return unanswered;
    }

    /** A handler ended: returned (null) or threw. */
    void ended(Running running, @Nullable Throwable thrown) {
        Throwable cause = running.timedOut ? HandlerPool.timeOut(running) : thrown;
        if (running.atMostOnce()) {
            if (cause != null) {
                warn(running, cause, "not run again (at most once)");
            }
            engine.handlers().forget(running);
        } else if (cause == null) {
            done(running);
        } else if (cause instanceof Again again) {
            retry(running, again.dueMs(running.shard().clock.nowMs()), false, "");
        } else if (cause instanceof Dead || cause instanceof TopicWork.UndecodableException) {
            bury(running, OneLine.of(cause.getMessage()), cause);
        } else {
            failed(running, cause);
        }
    }

    private void failed(Running running, Throwable cause) {
        Optional<Duration> delay = running.shard()
                .topic()
                .retry()
                .delayAfter(running.attempt(), ThreadLocalRandom.current().nextDouble());
        if (delay.isEmpty()) {
            bury(running, OneLine.of(cause), cause);
            return;
        }
        long dueMs = running.shard().clock.nowMs() + delay.get().toMillis();
        warn(running, cause, "next_run=" + Instant.ofEpochMilli(dueMs));
        retry(running, dueMs, true, OneLine.of(cause));
    }

    private void warn(Running running, Throwable cause, String what) {
        failureLines.log(left -> log.warn("job: failed {} cause=\"{}\" {}{}", running, OneLine.of(cause), what, left));
    }

    private void done(Running running) {
        unanswered++;
        Shard shard = running.shard();
        shard.acks.add(running);
        if (shard.acks.size() >= FLUSH_JOBS) {
            flush(shard);
        } else {
            shard.ackTimer.setBy(System.nanoTime() + LINGER_NS);
        }
    }

    /** Sends the acks that wait, one call at a time for a shard. */
    void flush(Shard shard) {
        if (shard.acking || shard.acks.isEmpty()) {
            return;
        }
        shard.acking = true;
        List<Running> batch = new ArrayList<>(shard.acks.subList(0, Math.min(shard.acks.size(), Limits.BATCH_JOBS)));
        shard.acks.subList(0, batch.size()).clear();
        ack(
                shard,
                batch,
                (running, arrived) -> {
                    unanswered--;
                    engine.handlers().forget(running);
                },
                () -> {
                    shard.acking = false;
                    if (shard.acks.size() >= FLUSH_JOBS || engine.stopping()) {
                        flush(shard);
                    } else if (!shard.acks.isEmpty()) {
                        shard.ackTimer.setBy(System.nanoTime() + LINGER_NS);
                    }
                    engine.drainer().pump(shard);
                });
    }

    /** For topics that run jobs at most once: acknowledges, and starts only what was this node's for sure. */
    void ackFirst(Shard shard, List<Running> jobs) {
        ack(shard, jobs, engine.handlers()::acknowledged, () -> {});
    }

    private interface Settled {
        /** Told of each job whether it is done by this node's word. */
        void take(Running running, boolean arrived);
    }

    private void ack(Shard shard, List<Running> batch, Settled each, Runnable then) {
        List<HandedJob> jobs = batch.stream().map(Running::handed).toList();
        Duration retention = shard.topic().settings().retention();
        engine.calls()
                .<List<Boolean>>repeat(
                        shard.id.topic(),
                        () -> !engine.closed(),
                        () -> store.ack(shard.id, jobs, retention),
                        (verdicts, failure, tries) -> {
                            boolean allGood = verdicts != null && !verdicts.contains(false);
                            whenSure(allGood, failure, tries, () -> {
                                for (int i = 0; i < batch.size(); i++) {
                                    boolean good = verdicts != null && verdicts.get(i);
                                    each.take(batch.get(i), arrived(batch.get(i), Counter.DONE, good, tries, failure));
                                }
                                then.run();
                            });
                        });
    }

    /**
     * Goes on when it is known what an answer means: after an outage of this node only, a refused repeat may be due to an earlier call of its own,
     * or to another node that has found this one dead and taken its jobs over.
     */
    private void whenSure(boolean good, @Nullable StoreException failure, Tries tries, Runnable goOn) {
        if (good || failure != null || !tries.repeated()) {
            goOn.run();
        } else {
            engine.membership().whenSure(goOn);
        }
    }

    /**
     * Counts an outcome and says whether Redis has it from this node. A refusal of a repeated call means that an earlier one arrived, if nobody
     * else can have had the job meanwhile; see {@link #whenSure}.
     */
    private boolean arrived(
            Running running, Counter counter, boolean good, Tries tries, @Nullable StoreException failure) {
        boolean earlier = failure == null
                && tries.repeated()
                && running.nobodyElses(engine.membership().node().id(), System.nanoTime());
        if (good || earlier) {
            telemetry.count(counter, running.topic(), 1);
            return true;
        }
        if (failure == null) {
            telemetry.count(Counter.STALE, running.topic(), 1);
        }
        refusedLines.log(left -> log.warn(
                "job: outcome {} {} outcome={} tries={}{}{}",
                failure == null ? "refused, the job may be another node's now" : "not stored, it will run again",
                running,
                counter,
                tries.sent(),
                failure == null ? "" : " cause=\"" + failure.getMessage() + "\"",
                left));
        return false;
    }

    /** Gives a job back unrun. */
    void nack(Running running) {
        retry(running, running.job().dueAt().toEpochMilli(), false, "");
    }

    /** Gives a job back that could not be started, to be run a little later. */
    void postpone(Running running) {
        retry(running, running.shard().clock.nowMs() + POSTPONED_MS, false, "");
    }

    private void retry(Running running, long dueMs, boolean counted, String reason) {
        unanswered++;
        engine.calls()
                .<Boolean>repeat(
                        running.topic(),
                        () -> !engine.closed(),
                        () -> store.retry(running.handed(), dueMs, counted, reason),
                        (answer, failure, tries) -> {
                            boolean good = answer != null && answer;
                            whenSure(good, failure, tries, () -> {
                                unanswered--;
                                arrived(running, counted ? Counter.RETRIED : Counter.NACKED, good, tries, failure);
                                engine.handlers().forget(running);
                            });
                        });
    }

    /** Ends a job as a dead letter. */
    void bury(Running running, String reason, @Nullable Throwable cause) {
        unanswered++;
        engine.calls()
                .<Optional<Integer>>repeat(
                        running.topic(),
                        () -> !engine.closed(),
                        () -> store.bury(
                                running.handed(),
                                reason,
                                running.shard().topic().settings()),
                        (dropped, failure, tries) -> {
                            boolean good = dropped != null && dropped.isPresent();
                            whenSure(good, failure, tries, () -> {
                                unanswered--;
                                if (arrived(running, Counter.DEAD, good, tries, failure)) {
                                    buried(running, reason, cause);
                                }
                                dropped(running.topic(), dropped == null ? 0 : dropped.orElse(0));
                                engine.handlers().forget(running);
                            });
                        });
    }

    private void dropped(String topic, int over) {
        if (over > 0) {
            telemetry.count(Counter.DEAD_DROPPED, topic, over);
            refusedLines.log(left -> log.error(
                    "dead letters: over the limit of number or age, dropped topic={} jobs={}{}", topic, over, left));
        }
    }

    private void buried(Running running, String reason, @Nullable Throwable cause) {
        failureLines.log(left -> log.warn("job: dead {} reason=\"{}\"{}", running, reason, left));
        var onDead = running.shard().topic().options().onDead();
        if (onDead == null) {
            return;
        }
        callbacks++;
        Throwable why = cause == null ? Dead.because(reason) : cause;
        try {
            engine.handlers().executor().execute(() -> {
                try {
                    engine.handlers().call(() -> onDead.accept(running.job(), why));
                } catch (Throwable failure) {
                    log.error(
                            "job: the call-back for dead letters failed {} cause=\"{}\"", running, OneLine.of(failure));
                } finally {
                    timer.execute(this::calledBack);
                }
            });
        } catch (Throwable noThread) {
            log.error("job: the call-back for dead letters cannot be made {} cause=\"{}\"", running, noThread);
            callbacks--;
        }
    }

    private void calledBack() {
        callbacks--;
        engine.checkStopped();
    }
}

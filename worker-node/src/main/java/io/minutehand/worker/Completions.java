package io.minutehand.worker;

import io.minutehand.core.job.Limits;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis how jobs ended: acks, retries, dead letters, extensions. Acks are grouped by shard for a few milliseconds, and everything is
 * repeated until it is answered: until then the job's deadline is extended, so an outage that ends before the deadline costs nothing. Only the
 * node's thread touches this.
 */
final class Completions {
    private static final Logger log = LoggerFactory.getLogger(Completions.class);
    private static final long LINGER_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int FLUSH_JOBS = 64;
    private static final long EXTEND_SWEEP_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int FAILURE_LINES_A_SECOND = 100;

    private final JobStore store;
    private final NodeEngine engine;
    private final Telemetry telemetry;
    private final LogLimiter failureLines = new LogLimiter(FAILURE_LINES_A_SECOND);
    private final DueTimer.Timer extendTimer;
    private final int mostUnanswered;
    private int unanswered;

    Completions(JobStore store, NodeEngine engine, Telemetry telemetry, DueTimer timer, int slots) {
        this.store = store;
        this.engine = engine;
        this.telemetry = telemetry;
        this.extendTimer = timer.timer(this::extendAll);
        this.mostUnanswered = 8 * slots + 1000;
    }

    void start(long nowNs) {
        extendTimer.setAt(nowNs + EXTEND_SWEEP_NS);
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
        boolean acknowledged = running.shard().topic().settings().delivery() == Delivery.AT_MOST_ONCE;
        if (acknowledged) {
            if (cause != null) {
                warn(running, cause, "not run again (at most once)");
            }
            engine.handlers().forget(running);
        } else if (cause == null) {
            done(running);
        } else if (cause instanceof Again again) {
            retry(running, again.dueMs(running.shard().clock.nowMs()), false, "");
        } else if (cause instanceof Dead) {
            bury(running, String.valueOf(cause.getMessage()), cause);
        } else if (cause instanceof TopicWork.UndecodableException) {
            bury(running, "payload cannot be decoded: " + cause.getMessage(), cause);
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
            bury(running, brief(cause), cause);
            return;
        }
        long dueMs = running.shard().clock.nowMs() + delay.get().toMillis();
        warn(running, cause, "next_run=" + Instant.ofEpochMilli(dueMs));
        retry(running, dueMs, true, brief(cause));
    }

    private void warn(Running running, Throwable cause, String what) {
        failureLines.log(left -> log.warn("job: failed {} cause=\"{}\" {}{}", running, brief(cause), what, left));
    }

    /** One line: the class and message of a failure, controls replaced, so that nobody forges log lines. */
    private static String brief(Throwable cause) {
        String text = cause.getClass().getSimpleName() + ": " + cause.getMessage();
        String line = text.replaceAll("\\p{Cntrl}", " ");
        return line.length() > Limits.REASON_BYTES ? line.substring(0, Limits.REASON_BYTES) : line;
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
                (running, good) -> {
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
        ack(
                shard,
                jobs,
                (running, good) -> {
                    if (good) {
                        engine.handlers().start(running);
                    } else {
                        engine.slots().release(shard.topic(), 1);
                        engine.handlers().forget(running);
                    }
                },
                () -> {});
    }

    private interface Settled {
        void take(Running running, boolean good);
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
                            for (int i = 0; i < batch.size(); i++) {
                                boolean good = verdicts != null && verdicts.get(i);
                                count(batch.get(i), Counter.DONE, good, tries, failure);
                                each.take(batch.get(i), good);
                            }
                            then.run();
                        });
    }

    /** Counts an outcome; a refusal of a repeated call may only mean that the first one arrived. */
    private void count(Running running, Counter counter, boolean good, int tries, @Nullable Throwable failure) {
        if (good) {
            telemetry.count(counter, running.topic(), 1);
        } else if (failure != null) {
            log.warn(
                    "job: outcome not stored, it will run again {} outcome={} cause=\"{}\"",
                    running,
                    counter,
                    failure.getMessage());
        } else if (tries == 1) {
            telemetry.count(Counter.STALE, running.topic(), 1);
            log.warn("job: outcome refused, the job is another node's now {} outcome={}", running, counter);
        } else {
            log.info(
                    "job: outcome refused after {} tries, an earlier one may have arrived {} outcome={}",
                    tries,
                    running,
                    counter);
        }
    }

    /** Gives a job back unrun. */
    void nack(Running running) {
        retry(running, running.shard().clock.passedMs(), false, "");
    }

    private void retry(Running running, long dueMs, boolean counted, String reason) {
        unanswered++;
        engine.calls()
                .<Boolean>repeat(
                        running.topic(),
                        () -> !engine.closed(),
                        () -> store.retry(running.handed(), dueMs, counted, reason),
                        (good, failure, tries) -> {
                            unanswered--;
                            count(
                                    running,
                                    counted ? Counter.RETRIED : Counter.NACKED,
                                    good != null && good,
                                    tries,
                                    failure);
                            engine.handlers().forget(running);
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
                            unanswered--;
                            boolean good = dropped != null && dropped.isPresent();
                            int over = dropped == null ? 0 : dropped.orElse(0);
                            count(running, Counter.DEAD, good, tries, failure);
                            if (good || tries > 1) {
                                buried(running, reason, cause);
                            }
                            if (over > 0) {
                                telemetry.count(Counter.DEAD_DROPPED, running.topic(), over);
                                log.error(
                                        "dead letters: over the limit of number or age, dropped topic={} jobs={}",
                                        running.topic(),
                                        over);
                            }
                            engine.handlers().forget(running);
                        });
    }

    private void buried(Running running, String reason, @Nullable Throwable cause) {
        failureLines.log(left -> log.warn("job: dead {} reason=\"{}\"{}", running, reason, left));
        var onDead = running.shard().topic().options().onDead();
        if (onDead != null) {
            engine.handlers().executor().execute(() -> {
                try {
                    onDead.accept(running.job(), cause == null ? Dead.because(reason) : cause);
                } catch (Throwable failure) {
                    log.error("job: the call-back for dead letters failed {}", running, failure);
                }
            });
        }
    }

    /** Extends what runs and was not extended for a third of the visibility, one call a shard. */
    private void extendAll() {
        long nowNs = System.nanoTime();
        extendTimer.setAt(nowNs + EXTEND_SWEEP_NS);
        Map<Shard, List<Running>> due = new HashMap<>();
        for (Running running : engine.handlers().all()) {
            Duration visibility = running.shard().topic().settings().visibility();
            if (!running.lost()
                    && nowNs - running.extendedNs >= visibility.dividedBy(3).toNanos()) {
                List<Running> list = due.computeIfAbsent(running.shard(), s -> new ArrayList<>());
                if (list.size() < Limits.BATCH_JOBS) {
                    list.add(running);
                    // Moved on before the answer, so that one call at a time asks for it; a failure sets it back.
                    running.extendedNs = nowNs;
                }
            }
        }
        due.forEach((shard, jobs) -> extend(shard, jobs, nowNs));
    }

    private void extend(Shard shard, List<Running> jobs, long nowNs) {
        Duration visibility = shard.topic().settings().visibility();
        store.extend(shard.id, jobs.stream().map(r -> r.handed().receipt()).toList(), visibility)
                .whenComplete((verdicts, failure) -> {
                    if (failure != null) {
                        shard.unanswered();
                        engine.calls().failed(shard.id.topic(), failure);
                        jobs.forEach(running -> running.extendedNs =
                                nowNs - visibility.dividedBy(3).toNanos());
                        return;
                    }
                    for (int i = 0; i < jobs.size(); i++) {
                        Running running = jobs.get(i);
                        if (verdicts.get(i)) {
                            running.extended(nowNs);
                        } else if (!running.ended) {
                            engine.handlers().lost(running);
                        }
                    }
                });
    }
}

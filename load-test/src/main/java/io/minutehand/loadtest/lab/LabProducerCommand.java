package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler.Sender;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.lab.LabSettings.Planted;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A producer process of the lab, with an open loop: each job is sent at the time that the clock says, whatever became
 * of those before, and is due when the plan says. If it is sent late, it starts late, and that counts: nothing is left
 * out because the sender had to wait (no coordinated omission).
 */
@Command(name = "lab-producer", hidden = true, description = "A producer process of the lab; bench starts it.")
public final class LabProducerCommand extends LabProcess {
    /** Calls without an answer, beyond which the producer waits: far more than an answer's time at any rate in question. */
    private static final int UNANSWERED = 20_000;

    private static final long PHASE_LOOK_NS = 2_000_000;
    private static final long PLANTED_STALL_MS = 500;

    @Option(names = "--index", required = true)
    private int index;

    private final Semaphore unanswered = new Semaphore(UNANSWERED);
    private final AtomicLong stored = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private volatile long sent;
    private volatile long latestUs;
    private volatile long warmDone;
    private volatile long measuredDone;
    private volatile @Nullable Throwable failure;

    @Override
    AutoCloseable start(LabSettings settings, RedisClock clock, Trace trace) {
        Sender sender = settings.scheduler().sender(settings.target(redis()));
        Thread thread = new Thread(() -> send(settings, clock, trace, sender), "sender");
        thread.start();
        return () -> {
            thread.interrupt();
            thread.join();
            sender.close();
        };
    }

    private void send(LabSettings settings, RedisClock clock, Trace trace, Sender sender) {
        try {
            sendPhase(Phase.WARMUP, settings, clock, null, sender);
            warmDone = 1;
            sendPhase(Phase.MEASURED, settings, clock, trace, sender);
            measuredDone = 1;
        } catch (InterruptedException e) {
            // Told to end.
        } catch (Exception e) {
            failure = e;
            e.printStackTrace();
        }
    }

    /** Sends every job of a phase that is this producer's, and waits for all answers. */
    private void sendPhase(Phase phase, LabSettings settings, RedisClock clock, @Nullable Trace trace, Sender sender)
            throws Exception {
        Long firstDueUs = phase.firstDueUs(workDir());
        while (firstDueUs == null) {
            LockSupport.parkNanos(PHASE_LOOK_NS);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            firstDueUs = phase.firstDueUs(workDir());
        }
        boolean warmup = phase == Phase.WARMUP;
        long aheadUs = 1_000 * (warmup ? settings.warmupAheadMs() : settings.aheadMs());
        long jobs = warmup ? settings.warmupJobs() : settings.jobs();
        for (long number = index; number < jobs; number += settings.producers()) {
            long dueUs = warmup
                    ? (firstDueUs + Arrivals.STEADY.offsetUs(number, settings.rate())) / 1_000 * 1_000
                    : settings.dueUs(number, firstDueUs);
            if (!settings.storesFirst()) {
                waitUntil(clock.nanoTimeAt(dueUs - aheadUs));
            }
            if (!warmup
                    && settings.planted() == Planted.STALL
                    && number / settings.producers() == jobs / 2 / settings.producers()) {
                Thread.sleep(PLANTED_STALL_MS + settings.aheadMs());
            }
            unanswered.acquire();
            if (trace != null) {
                long nowUs = clock.nowUs();
                latestUs = Math.max(latestUs, nowUs - (dueUs - aheadUs));
                trace.note(Trace.Event.SENT, number, nowUs);
                sent++;
            }
            JobPayload job = new JobPayload(number, warmup, dueUs);
            sender.send(job.id(), job.bytes(settings.payloadBytes()), dueUs, accepted -> {
                unanswered.release();
                if (trace != null) {
                    trace.note(accepted ? Trace.Event.STORED : Trace.Event.REFUSED, job.number(), clock.nowUs());
                    (accepted ? stored : refused).incrementAndGet();
                }
            });
        }
        unanswered.acquire(UNANSWERED);
        unanswered.release(UNANSWERED);
    }

    private static void waitUntil(long nanoTime) throws InterruptedException {
        for (long restNs = nanoTime - System.nanoTime(); restNs > 0; restNs = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(restNs);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    @Override
    Map<String, Long> counts() {
        return Map.of(
                "sent",
                sent,
                "stored",
                stored.get(),
                "refused",
                refused.get(),
                "warm_done",
                warmDone,
                "done",
                measuredDone,
                "failed",
                failure == null ? 0L : 1L,
                "latest_us",
                Math.max(0, latestUs));
    }
}

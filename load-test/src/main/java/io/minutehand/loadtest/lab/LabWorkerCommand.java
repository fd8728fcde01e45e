package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.lab.LabSettings.Planted;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;

/** A worker process of the lab: its handler notes when a job starts, and does nothing else. */
@Command(name = "lab-worker", hidden = true, description = "A worker process of the lab; bench starts it.")
public final class LabWorkerCommand extends LabProcess {
    private static final long PLANTED_DELAY_MS = 5;
    private static final int PLANTED_LEAK_BYTES = 65_536;
    private static final long PLANTED_ONE_OF = 1_000;

    private final AtomicLong started = new AtomicLong();
    private final AtomicLong warm = new AtomicLong();
    private final Queue<byte[]> leaked = new ConcurrentLinkedQueue<>();

    @Override
    AutoCloseable start(LabSettings settings, RedisClock clock, Trace trace) {
        Planted planted = settings.planted();
        return settings.scheduler().worker(settings.target(redis()), name(), payload -> {
            JobPayload job = JobPayload.of(payload);
            if (job.warmup()) {
                warm.incrementAndGet();
                return;
            }
            boolean chosen = job.number() % PLANTED_ONE_OF == 0;
            if (planted == Planted.DELAY) {
                pause(PLANTED_DELAY_MS);
            }
            if (planted == Planted.LEAK) {
                leaked.add(new byte[PLANTED_LEAK_BYTES]);
            }
            if (planted == Planted.LOSS && chosen) {
                return;
            }
            trace.note(Trace.Event.STARTED, job.number(), clock.nowUs());
            if (planted == Planted.DUPLICATE && chosen) {
                trace.note(Trace.Event.STARTED, job.number(), clock.nowUs());
            }
            started.incrementAndGet();
        });
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    Map<String, Long> counts() {
        return Map.of("started", started.get(), "warm", warm.get());
    }
}

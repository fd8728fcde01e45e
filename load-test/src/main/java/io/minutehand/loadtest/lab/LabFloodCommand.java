package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler.Order;
import io.minutehand.loadtest.baseline.Scheduler.Sender;
import io.minutehand.loadtest.fleet.RedisClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A producer process that hands over as many jobs as are taken, from some threads, all due in an hour. */
@Command(name = "lab-flood", hidden = true, description = "A producer process of the lab; bench starts it.")
public final class LabFloodCommand extends LabProcess {
    /** Calls of one thread without an answer. */
    private static final int UNANSWERED = 10_000;

    private static final int BULK = 10_000;
    private static final long DUE_IN_US = TimeUnit.HOURS.toMicros(1);
    private static final long PHASE_LOOK_NS = 2_000_000;

    @Option(names = "--threads", required = true)
    private int threads;

    @Option(names = "--bulk")
    private boolean bulk;

    @Option(names = "--seconds", required = true)
    private double seconds;

    private final AtomicLong next = new AtomicLong();
    private final AtomicLong stored = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private volatile long beganNs;
    private volatile long lastAnswerNs;
    private volatile long warmDone;
    private volatile long measuredDone;

    @Override
    AutoCloseable start(LabSettings settings, RedisClock clock, Trace trace) {
        Sender sender = settings.scheduler().sender(settings.target(redis()));
        Thread main = new Thread(() -> flood(settings, clock, sender), "flood");
        main.start();
        return () -> {
            main.interrupt();
            main.join();
            sender.close();
        };
    }

    private void flood(LabSettings settings, RedisClock clock, Sender sender) {
        try {
            for (Phase phase : Phase.values()) {
                while (phase.firstDueUs(workDir()) == null) {
                    LockSupport.parkNanos(PHASE_LOOK_NS);
                    if (Thread.interrupted()) {
                        return;
                    }
                }
                stored.set(0);
                beganNs = System.nanoTime();
                double lasts = phase == Phase.WARMUP ? Math.min(seconds, 3) : seconds;
                long endNs = beganNs + (long) (lasts * 1e9);
                List<Thread> senders = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    Thread thread = new Thread(() -> send(settings, clock, sender, endNs), "sender-" + i);
                    senders.add(thread);
                    thread.start();
                }
                for (Thread thread : senders) {
                    thread.join();
                }
                if (phase == Phase.WARMUP) {
                    warmDone = 1;
                } else {
                    measuredDone = 1;
                }
            }
        } catch (InterruptedException e) {
            // Told to end.
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void send(LabSettings settings, RedisClock clock, Sender sender, long endNs) {
        if (bulk) {
            sendBulk(settings, clock, sender, endNs);
        } else {
            sendSingly(settings, clock, sender, endNs);
        }
    }

    private void sendBulk(LabSettings settings, RedisClock clock, Sender sender, long endNs) {
        while (System.nanoTime() - endNs < 0) {
            List<Order> orders = new ArrayList<>(BULK);
            for (int i = 0; i < BULK; i++) {
                orders.add(order(settings, clock));
            }
            long taken = sender.sendAll(orders);
            stored.addAndGet(taken);
            refused.addAndGet(BULK - taken);
            lastAnswerNs = System.nanoTime();
        }
    }

    private void sendSingly(LabSettings settings, RedisClock clock, Sender sender, long endNs) {
        Semaphore unanswered = new Semaphore(UNANSWERED);
        while (System.nanoTime() - endNs < 0) {
            Order order = order(settings, clock);
            unanswered.acquireUninterruptibly();
            sender.send(order.id(), order.payload(), order.dueUs(), accepted -> {
                (accepted ? stored : refused).incrementAndGet();
                lastAnswerNs = System.nanoTime();
                unanswered.release();
            });
        }
        unanswered.acquireUninterruptibly(UNANSWERED);
    }

    private Order order(LabSettings settings, RedisClock clock) {
        long dueUs = (clock.nowUs() + DUE_IN_US) / 1_000 * 1_000;
        JobPayload job = new JobPayload(next.getAndIncrement(), false, dueUs);
        return new Order(job.id(), job.bytes(settings.payloadBytes()), dueUs);
    }

    @Override
    Map<String, Long> counts() {
        return Map.of(
                "stored",
                stored.get(),
                "refused",
                refused.get(),
                "elapsed_us",
                Math.max(0, (lastAnswerNs - beganNs) / 1_000),
                "warm_done",
                warmDone,
                "done",
                measuredDone);
    }
}

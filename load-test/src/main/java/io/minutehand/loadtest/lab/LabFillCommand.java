package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler.Order;
import io.minutehand.loadtest.baseline.Scheduler.Sender;
import io.minutehand.loadtest.fleet.RedisClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A producer process that stores jobs in bulk which are not due before the run is over, spread over minutes. */
@Command(name = "lab-fill", hidden = true, description = "A producer process of the lab; bench starts it.")
public final class LabFillCommand extends LabProcess {
    private static final int BULK = 10_000;
    private static final long FIRST_DUE_US = TimeUnit.HOURS.toMicros(3);

    @Option(names = "--jobs", required = true)
    private long jobs;

    @Option(names = "--minutes", required = true)
    private long minutes;

    private volatile long stored;
    private volatile long done;
    private volatile long failed;
    private volatile boolean ended;

    @Override
    AutoCloseable start(LabSettings settings, RedisClock clock, Trace trace) {
        Sender sender = settings.scheduler().sender(settings.target(redis()));
        long firstDueUs = (clock.nowUs() + FIRST_DUE_US) / 1_000 * 1_000;
        Thread thread = new Thread(() -> fill(settings, firstDueUs, sender), "fill");
        thread.start();
        return () -> {
            ended = true;
            thread.join();
            sender.close();
        };
    }

    private void fill(LabSettings settings, long firstDueUs, Sender sender) {
        try {
            for (long from = 0; from < jobs && !ended; from += BULK) {
                List<Order> orders = new ArrayList<>(BULK);
                for (long number = from; number < Math.min(jobs, from + BULK); number++) {
                    long dueUs = firstDueUs + number % minutes * TimeUnit.MINUTES.toMicros(1);
                    orders.add(new Order(
                            String.format("far-%016d", number),
                            new JobPayload(number, false, dueUs).bytes(settings.payloadBytes()),
                            dueUs));
                }
                stored += sender.sendAll(orders);
            }
            done = 1;
        } catch (RuntimeException e) {
            e.printStackTrace();
            failed = 1;
        }
    }

    @Override
    Map<String, Long> counts() {
        return Map.of("stored", stored, "done", done, "failed", failed);
    }
}

package io.minutehand.loadtest.fault;

import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.loadtest.fleet.NotedHandler;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.ledger.LedgerRecord;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.worker.Dead;
import io.minutehand.worker.JobContext;
import io.minutehand.worker.TopicOptions;
import io.minutehand.worker.WorkerNode;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The handlers of a fault run: they do what the payload says, and can be held at a {@link HoldPoint}. Thread-safe. */
final class FaultHandlers implements Telemetry {
    private static final long LOOK_NS = 5_000_000;

    private final String node;
    private final Path workDir;
    private final RunSettings settings;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final AtomicLong held = new AtomicLong();

    FaultHandlers(String node, Path workDir, RunSettings settings, LedgerWriter ledger, RedisClock clock) {
        this.node = node;
        this.workDir = workDir;
        this.settings = settings;
        this.ledger = ledger;
        this.clock = clock;
    }

    void register(WorkerNode.Builder builder) {
        TopicOptions options = TopicOptions.defaults()
                .onDead((job, cause) -> ledger.append(
                        new LedgerRecord.Dead(job.id(), job.topic(), job.attempt(), node, clock.nowUs())));
        builder.telemetry(this)
                .handle(
                        RunSettings.TOPIC,
                        options,
                        new NotedHandler<>(node, settings.shards(), ledger, clock, this::handle));
    }

    /** How many jobs are held now. */
    long held() {
        return held.get();
    }

    private void handle(byte[] payload, JobContext job) throws Exception {
        hold(HoldPoint.HANDLER);
        Deed deed = Deed.of(payload);
        switch (deed.kind()) {
            case HALT -> Runtime.getRuntime().halt(9);
            case LOOP -> loop();
            case STACK -> deeper(Integer.MAX_VALUE);
            case MEMORY -> throw new OutOfMemoryError("thrown by a handler");
            default -> Thread.sleep(deed.ms());
        }
        if (deed.kind() == Deed.Kind.DIE) {
            throw Dead.because("its payload says so");
        }
        if (deed.kind() == Deed.Kind.THROW || (deed.kind() == Deed.Kind.FAIL_ONCE && job.attempt() == 1)) {
            throw new IllegalStateException("its payload says so");
        }
    }

    private void loop() {
        while (true) {
            LockSupport.parkNanos(LOOK_NS);
            // The flag would turn the next wait into none.
            Thread.interrupted();
        }
    }

    /** More frames than any stack holds. */
    private static int deeper(int frames) {
        return frames == 0 ? 0 : deeper(frames - 1) + frames;
    }

    private void hold(HoldPoint here) {
        if (HoldPoint.of(workDir, node) != here) {
            return;
        }
        held.incrementAndGet();
        boolean interrupted = false;
        while (HoldPoint.of(workDir, node) == here) {
            LockSupport.parkNanos(LOOK_NS);
            interrupted |= Thread.interrupted();
        }
        held.decrementAndGet();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void count(Counter counter, String topic, long events) {}

    /** Told on the handler's thread just before the handler is called. */
    @Override
    public void lateness(String topic, long latenessUs) {
        hold(HoldPoint.POPPED);
    }

    /** Told on the handler's thread when the handler has returned. */
    @Override
    public void handlerTime(String topic, long elapsedUs) {
        hold(HoldPoint.ACK);
    }
}

package io.minutehand.router;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.write.JobForms;
import io.minutehand.core.write.JobForms.Draft;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A job's way through the router up to the store, and its answer's way back. Times are those of one job. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class BatchingBenchmark {
    private static final int BATCH = 500;
    private static final int SHARDS = 8;
    private static final int PAYLOAD_BYTES = 100;
    private static final String TOPIC = "payments.order-timeout";
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final Duration DELAY = Duration.ofMinutes(30);

    /** A payload as applications have it. */
    record Order(long number, String customer, List<String> items, long totalCents) {}

    private final JobForms forms = new JobForms(null, Limits.PAYLOAD_BYTES);
    private final Admission admission = new Admission(RouterSettings.defaults());
    private final List<JobSpec<byte[]>> specs = new ArrayList<>();
    private final List<JobSpec<Order>> orders = new ArrayList<>();
    private final List<WaitingJob> prepared = new ArrayList<>();
    private final Lane lane = new Lane(new ShardId(TOPIC, 0), System.nanoTime());
    private final RouterLoop loop = new RouterLoop("benchmark-loop");
    private final Callbacks callbacks = new Callbacks("benchmark");
    private final ScheduleBatcher batcher =
            new ScheduleBatcher(loop, new InstantBackend(TOPIC, SHARDS), callbacks, new Recorders(), DEADLINE);
    private final Route route = batcher.route(TOPIC);
    private int next;

    /** Counts answers; a job that is not stored would make the figures worthless. */
    private static final class Answers implements WaitingJob.Sink {
        private final CountDownLatch open = new CountDownLatch(BATCH);
        private volatile boolean failed;

        @Override
        public void answered(int index, ScheduleResult result) {
            failed |= result.status() != ScheduleResult.Status.CREATED;
            open.countDown();
        }

        @Override
        public void failed(int index, Throwable failure) {
            failed = true;
            open.countDown();
        }
    }

    @Setup
    public void fill() throws InterruptedException {
        Random random = new Random(1);
        for (int i = 0; i < BATCH; i++) {
            byte[] payload = new byte[PAYLOAD_BYTES];
            random.nextBytes(payload);
            String id = "order-" + (10_000_000_000_000L + random.nextInt(1_000_000_000));
            specs.add(JobSpec.of(payload).id(id).after(DELAY));
            Order order = new Order(random.nextLong(), "customer-" + i, List.of("book", "pen"), 1990 + i);
            orders.add(JobSpec.of(order).id(id).after(DELAY));
        }
        loop.begin(batcher);
        roundTrip();
        Answers nobody = new Answers();
        long nowNs = System.nanoTime();
        for (JobSpec<byte[]> spec : specs) {
            WaitingJob job = waiting(spec, nowNs, nobody);
            job.prepare(System.currentTimeMillis() * 1000);
            prepared.add(job);
        }
    }

    @TearDown
    public void end() {
        loop.stop();
        callbacks.close();
    }

    private WaitingJob waiting(JobSpec<byte[]> spec, long nowNs, WaitingJob.Sink sink) {
        Draft draft = forms.draft(spec);
        Arrival.Ticket ticket = new Arrival.Ticket(
                route,
                draft.id(),
                nowNs + DEADLINE.toNanos(),
                admission.admit("schedule", RouterSettings.heldBytes(draft)));
        return new WaitingJob(ticket, draft, nowNs, sink, 0);
    }

    private int next() {
        next = (next + 1) % BATCH;
        return next;
    }

    /** What the caller's thread makes of bytes. */
    @Benchmark
    public NewJob formOfBytes() {
        return forms.draft(specs.get(next())).toJob(1_800_000_000_000_000L);
    }

    /** What the caller's thread makes of an object: JSON. */
    @Benchmark
    public NewJob formOfJson() {
        return forms.draft(orders.get(next())).toJob(1_800_000_000_000_000L);
    }

    /** Jobs that wait in a shard's lane become a batch. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public List<WaitingJob> batch() {
        for (WaitingJob job : prepared) {
            lane.add(job);
        }
        List<WaitingJob> batch = lane.nextBatch(DEADLINE.toNanos(), System.nanoTime());
        lane.writeEnded();
        return batch;
    }

    /** From the call to its answer, through the loop and the callbacks' thread, with a store that answers at once. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long roundTrip() throws InterruptedException {
        Answers answers = new Answers();
        for (JobSpec<byte[]> spec : specs) {
            batcher.submit(waiting(spec, System.nanoTime(), answers));
        }
        answers.open.await();
        if (answers.failed) {
            throw new IllegalStateException("not every job was stored");
        }
        return admission.usedBytes();
    }
}

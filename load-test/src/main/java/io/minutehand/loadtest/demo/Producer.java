package io.minutehand.loadtest.demo;

import io.minutehand.core.job.JobSpec;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.TopicHandle;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producer of the demo: hands jobs to a router, each at its planned time, and writes to the ledger what it means to
 * do before each call and what it was told after.
 *
 * <p>Due times are absolute, by a clock that the product has no part in, so that a start can be compared with what was
 * meant. A call without a definite answer is repeated with the same id, as the product's contract says.
 */
final class Producer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Producer.class);

    /** Calls for one job before its outcome stays unknown; each waits for the router's deadline. */
    private static final int CALLS = 3;

    /** Between the first call and the first due time of the warm-up. */
    private static final long WARMUP_AHEAD_US = 1_000_000;

    private final JobRouter router;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final OrderTable orders;
    private final TopicHandle<Payloads.CloseOrder> closing;
    private final TopicHandle<Payloads.RenderReport> rendering;
    private final TopicHandle<Payloads.CallWebhook> calling;
    private final TopicHandle<Payloads.WarmUp> warming;
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicLong lastAnswerNs = new AtomicLong();
    private volatile @Nullable Thread scheduling;
    private volatile long firstCallNs;
    private volatile boolean allCalled;
    private volatile @Nullable RuntimeException failure;

    private Producer(JobRouter router, LedgerWriter ledger, RedisClock clock, OrderTable orders) {
        this.router = router;
        this.ledger = ledger;
        this.clock = clock;
        this.orders = orders;
        this.closing = router.topic(DemoTopic.CLOSE_ORDER.topic(), Payloads.CloseOrder.class);
        this.rendering = router.topic(DemoTopic.RENDER_REPORT.topic(), Payloads.RenderReport.class);
        this.calling = router.topic(DemoTopic.CALL_WEBHOOK.topic(), Payloads.CallWebhook.class);
        this.warming = router.topic(DemoTopic.WARMUP, Payloads.WarmUp.class);
    }

    /** Connects a router and declares the topics. */
    static Producer connect(Stage stage, DemoOptions options) {
        JobRouter.Builder builder =
                JobRouter.builder().redis(stage.redis().uri()).namespace(stage.namespace());
        builder.declare(DemoTopic.WARMUP, DemoTopic.settings(DemoTopic.WARMUP, options.shards()));
        for (String topic : stage.topics()) {
            builder.declare(topic, DemoTopic.settings(topic, options.shards()));
        }
        return new Producer(builder.connect(), stage.ledger(), stage.clock(), stage.orders());
    }

    /**
     * Schedules the warm-up jobs at once, due one after the other.
     *
     * @param rate how many are due in a second
     */
    void warmUp(int jobs, int rate) {
        long firstDueUs = clock.nowUs() + WARMUP_AHEAD_US;
        for (int number = 0; number < jobs; number++) {
            long dueUs = wholeMs(firstDueUs + number * 1_000_000L / rate);
            String id = DemoTopic.WARMUP_ID_PREFIX + number;
            offer(warming, JobSpec.of(new Payloads.WarmUp(number)).id(id), DemoTopic.WARMUP, dueUs, CALLS);
        }
    }

    /**
     * Begins to schedule the jobs of a plan, on a thread of its own.
     *
     * @return when the first of them is due, by the Redis clock, epoch microseconds
     */
    long start(Plan plan) {
        long firstCallUs = wholeMs(clock.nowUs() + 10_000);
        firstCallNs = System.nanoTime();
        Thread thread = new Thread(() -> schedule(plan, firstCallUs), "producer");
        thread.setDaemon(true);
        scheduling = thread;
        thread.start();
        return firstCallUs + plan.dueUs(0);
    }

    /**
     * Returns whether all calls of the plan are made and answered.
     *
     * @throws IllegalStateException if they cannot be made
     */
    boolean isFinished() {
        RuntimeException broken = failure;
        if (broken != null) {
            throw new IllegalStateException("the producer failed: " + broken.getMessage(), broken);
        }
        return allCalled && unanswered.get() == 0;
    }

    /** Returns the seconds from the first call of the plan to the last answer so far. */
    double seconds() {
        return Math.max(0, lastAnswerNs.get() - firstCallNs) / 1e9;
    }

    private void schedule(Plan plan, long firstCallUs) {
        try {
            for (int i = 0; i < plan.jobs() && !Thread.interrupted(); i++) {
                waitUntil(clock.nanoTimeAt(firstCallUs + plan.scheduleAtUs(i)));
                int number = plan.number(i);
                offer(plan.topic(number), number, firstCallUs + plan.dueUs(number));
            }
            allCalled = true;
        } catch (RuntimeException e) {
            LOG.error("demo: producer failed", e);
            failure = e;
        }
    }

    private void offer(DemoTopic topic, int number, long dueUs) {
        String id = topic.id(number);
        switch (topic) {
            case CLOSE_ORDER -> {
                orders.place(number);
                offer(
                        closing,
                        JobSpec.of(new Payloads.CloseOrder(number)).id(id).businessId(Integer.toString(number)),
                        topic.topic(),
                        dueUs,
                        CALLS);
                // Three customers in ten pay in time. They leave the job alone, so that its handler has to look.
                if (Dice.hits(number, 3, 300)) {
                    orders.payIfWaiting(number);
                }
            }
            case RENDER_REPORT ->
                offer(
                        rendering,
                        JobSpec.of(Payloads.RenderReport.number(number)).id(id),
                        topic.topic(),
                        dueUs,
                        CALLS);
            case CALL_WEBHOOK ->
                offer(calling, JobSpec.of(Payloads.CallWebhook.number(number)).id(id), topic.topic(), dueUs, CALLS);
        }
    }

    private <T> void offer(TopicHandle<T> handle, JobSpec<T> spec, String topic, long dueUs, int calls) {
        String id = String.valueOf(spec.id());
        ledger.append(new Intent(id, topic, dueUs, clock.nowUs()));
        unanswered.incrementAndGet();
        call(handle, spec.at(Instant.EPOCH.plus(dueUs, ChronoUnit.MICROS)), id, calls);
    }

    private <T> void call(TopicHandle<T> handle, JobSpec<T> spec, String id, int callsLeft) {
        handle.schedule(spec).whenComplete((result, failure) -> {
            Ack ack = ack(result);
            ledger.append(new Outcome(
                    id,
                    ack,
                    result == null ? String.valueOf(failure) : result.status().name(),
                    result == null ? 0 : result.dueAtMs() * 1_000,
                    clock.nowUs()));
            if (ack == Ack.UNKNOWN && callsLeft > 1) {
                call(handle, spec, id, callsLeft - 1);
                return;
            }
            lastAnswerNs.set(System.nanoTime());
            unanswered.decrementAndGet();
        });
    }

    private static Ack ack(@Nullable ScheduleResult result) {
        if (result == null || result.status() == ScheduleResult.Status.UNKNOWN) {
            return Ack.UNKNOWN;
        }
        return result.accepted() ? Ack.ACCEPTED : Ack.REFUSED;
    }

    private static void waitUntil(long nanoTime) {
        for (long restNs = nanoTime - System.nanoTime();
                restNs > 0 && !Thread.currentThread().isInterrupted();
                restNs = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(restNs);
        }
    }

    private static long wholeMs(long us) {
        return us / 1_000 * 1_000;
    }

    /** Ends without waiting for the calls that have no answer yet. */
    void abandon() {
        boolean interrupted = Thread.interrupted();
        Thread.currentThread().interrupt();
        close();
        if (!interrupted) {
            Thread.interrupted();
        }
    }

    @Override
    public void close() {
        Thread thread = scheduling;
        if (thread != null) {
            thread.interrupt();
        }
        router.close();
    }
}

package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobSpec;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Cancel;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.router.CancelResult;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.ScheduleResult.Status;
import io.minutehand.router.TopicHandle;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The producers: jobs at a steady rate, due some time ahead, most of them good, some failing once, some dead, some
 * cancelled shortly before they are due. What a seed gives is the same each time.
 *
 * <p>A call without acceptance is repeated with the same id, as the product's contract says, until it is accepted or the
 * load is closed. Each call stands in the ledger before it is made and after it was answered.
 */
final class Load implements AutoCloseable {
    /** Between the start and the first due time. */
    private static final long LEAD_IN_US = 500_000;

    private static final long REPEAT_MS = 500;
    private static final long CANCEL_BEFORE_MS = 700;

    /** Of a thousand jobs. */
    private static final int FAIL_ONCE = 40;

    private static final int DIE = 10;
    private static final int CANCEL = 30;

    private final RunSettings settings;
    private final long seed;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final JobRouter router;
    private final TopicHandle<byte[]> topic;
    private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "load-repeats");
        thread.setDaemon(true);
        return thread;
    });
    private final Map<String, Deed> deeds = new ConcurrentHashMap<>();
    private final Map<String, Long> dues = new ConcurrentHashMap<>();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final Map<Status, Long> answers = new EnumMap<>(Status.class);
    private final AtomicLong unanswered = new AtomicLong();
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong cancelling = new AtomicLong();

    /** By shard, when it took its last job, nanoTime; 0 before the first. */
    private final AtomicLongArray lastStoredNs;

    private final AtomicLong longestGapNs = new AtomicLong();
    private volatile long firstDueUs;
    private volatile long lastAnswerNs;
    private volatile long firstCallNs;
    private volatile boolean allCalled;
    private volatile boolean closed;
    private volatile @Nullable Throwable failure;

    Load(RunSettings settings, long seed, String uri, LedgerWriter ledger, RedisClock clock) {
        this.settings = settings;
        this.seed = seed;
        this.ledger = ledger;
        this.clock = clock;
        this.lastStoredNs = new AtomicLongArray(settings.shards());
        this.router = JobRouter.builder()
                .redis(uri)
                .namespace(Arena.NAMESPACE)
                .declare(RunSettings.TOPIC, settings.topic())
                .connect();
        this.topic = router.topic(RunSettings.TOPIC);
    }

    void start() {
        firstCallNs = System.nanoTime();
        firstDueUs = wholeMs(clock.nowUs() + LEAD_IN_US);
        Thread thread = new Thread(this::schedule, "load");
        thread.setDaemon(true);
        thread.start();
    }

    private void schedule() {
        try {
            Random dice = new Random(seed);
            long stepNs = settings.schedule().toNanos() / settings.jobs();
            for (int i = 0; i < settings.jobs() && !closed; i++) {
                sleepUntil(firstCallNs + i * stepNs);
                long aheadUs = LEAD_IN_US
                        + (long) (dice.nextDouble() * settings.ahead().toNanos() / 1_000);
                int lot = dice.nextInt(1_000);
                Deed deed =
                        new Deed(kind(lot), dice.nextInt((int) settings.work().toMillis() + 1));
                long dueUs = wholeMs(firstDueUs + i * stepNs / 1_000 + aheadUs - LEAD_IN_US);
                boolean cancel = lot >= 1_000 - CANCEL && aheadUs > 2_000 * CANCEL_BEFORE_MS;
                offer("job-" + i, deed, dueUs, cancel);
            }
            allCalled = true;
        } catch (RuntimeException | Error e) {
            failure = e;
        }
    }

    private static Deed.Kind kind(int lot) {
        return lot < DIE ? Deed.Kind.DIE : lot < DIE + FAIL_ONCE ? Deed.Kind.FAIL_ONCE : Deed.Kind.WORK;
    }

    /** Schedules one more job, beyond the plan. From any thread. */
    void offer(String id, Deed deed, long dueUs) {
        offer(id, deed, dueUs, false);
    }

    /** Schedules a job once more, just as it was. From any thread. */
    void offerAgain(String id) {
        offer(id, Objects.requireNonNull(deeds.get(id)), Objects.requireNonNull(dues.get(id)));
    }

    /** The same, and cancels it shortly before it is due if {@code cancel}. */
    void offer(String id, Deed deed, long dueUs, boolean cancel) {
        deeds.put(id, deed);
        dues.put(id, dueUs);
        ledger.append(new Intent(id, RunSettings.TOPIC, dueUs, clock.nowUs()));
        unanswered.incrementAndGet();
        JobSpec<byte[]> spec = JobSpec.of(deed.payload()).id(id).at(Instant.EPOCH.plus(dueUs, ChronoUnit.MICROS));
        call(spec, id);
        if (cancel) {
            cancelling.incrementAndGet();
            // By this machine's time: the clock of Redis may be set meanwhile.
            long elapsedMs = (System.nanoTime() - firstCallNs) / 1_000_000;
            long plannedMs = (dueUs - firstDueUs + LEAD_IN_US) / 1_000;
            later.schedule(() -> cancel(id), plannedMs - CANCEL_BEFORE_MS - elapsedMs, TimeUnit.MILLISECONDS);
        }
    }

    private void call(JobSpec<byte[]> spec, String id) {
        topic.schedule(spec).whenComplete((result, thrown) -> {
            try {
                answered(spec, id, result, thrown);
            } catch (RuntimeException e) {
                failure = e;
            }
        });
    }

    private void answered(
            JobSpec<byte[]> spec, String id, @Nullable ScheduleResult result, @Nullable Throwable thrown) {
        Status status = result == null ? Status.UNKNOWN : result.status();
        Ack ack = status == Status.UNKNOWN ? Ack.UNKNOWN : status.accepted() ? Ack.ACCEPTED : Ack.REFUSED;
        long nowUs = clock.nowUs();
        ledger.append(new Outcome(
                id,
                ack,
                result == null ? String.valueOf(thrown) : status.name(),
                result == null ? 0 : result.dueAtMs() * 1_000,
                nowUs));
        synchronized (answers) {
            answers.merge(status, 1L, Long::sum);
        }
        if (ack == Ack.REFUSED) {
            refused.add(id);
        }
        if (ack == Ack.ACCEPTED) {
            lastAnswerNs = System.nanoTime();
            stored(ShardMap.shardOf(id, settings.shards()), lastAnswerNs);
            accepted.incrementAndGet();
            unanswered.decrementAndGet();
        } else if (!closed) {
            later.schedule(() -> call(spec, id), REPEAT_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void stored(int shard, long nowNs) {
        long beforeNs = lastStoredNs.getAndSet(shard, nowNs);
        if (beforeNs != 0) {
            longestGapNs.accumulateAndGet(nowNs - beforeNs, Math::max);
        }
    }

    /** Whether each shard has taken a job after this {@code nanoTime}. */
    boolean eachStoredSince(long nanoTime) {
        return IntStream.range(0, settings.shards())
                .mapToLong(lastStoredNs::get)
                .allMatch(atNs -> atNs != 0 && atNs - nanoTime > 0);
    }

    /** The longest time, ns, between two jobs that one shard took, of those that ended since this was last called. */
    long takeLongestGapNs() {
        return longestGapNs.getAndSet(0);
    }

    private void cancel(String id) {
        topic.cancel(id).whenComplete((result, thrown) -> {
            // Answered UNKNOWN it may still have cancelled the job: only asking again tells.
            boolean definite = result != null && result.status() != CancelResult.Status.UNKNOWN;
            Ack ack = !definite
                    ? Ack.UNKNOWN
                    : result.status() == CancelResult.Status.CANCELLED ? Ack.ACCEPTED : Ack.REFUSED;
            ledger.append(new Cancel(
                    id, ack, result != null ? result.status().name() : String.valueOf(thrown), clock.nowUs()));
            if (definite || closed) {
                cancelling.decrementAndGet();
            } else {
                later.schedule(() -> cancel(id), REPEAT_MS, TimeUnit.MILLISECONDS);
            }
        });
    }

    /**
     * Whether all calls of the plan are made and answered.
     *
     * @throws IllegalStateException if they cannot be made
     */
    boolean isFinished() {
        Throwable broken = failure;
        if (broken != null) {
            throw new IllegalStateException("the load failed: " + broken, broken);
        }
        return allCalled && unanswered.get() == 0 && cancelling.get() == 0;
    }

    /** Whether every call that was made so far is answered. */
    boolean areAllAnswered() {
        return unanswered.get() == 0;
    }

    /** When the first job is due, by the Redis clock. */
    long firstDueUs() {
        return firstDueUs;
    }

    /** What was to be done by a job's handler; null if there is no such job. */
    Deed.@Nullable Kind deedOf(String id) {
        Deed deed = deeds.get(id);
        return deed == null ? null : deed.kind();
    }

    /** Whether a call for a job was ever refused. */
    boolean wasRefused(String id) {
        return refused.contains(id);
    }

    /** Jobs offered so far. */
    long offered() {
        return deeds.size();
    }

    /** Jobs accepted so far. */
    long accepted() {
        return accepted.get();
    }

    /** How many schedule calls got this answer. */
    long answers(Status status) {
        synchronized (answers) {
            return answers.getOrDefault(status, 0L);
        }
    }

    /** Seconds from the first call to the last acceptance so far. */
    double seconds() {
        return Math.max(0, lastAnswerNs - firstCallNs) / 1e9;
    }

    /** The producers' way to the topic, for calls that a row makes itself. */
    TopicHandle<byte[]> topic() {
        return topic;
    }

    private static long wholeMs(long us) {
        return us / 1_000 * 1_000;
    }

    private static void sleepUntil(long nanoTime) {
        for (long restNs = nanoTime - System.nanoTime(); restNs > 0; restNs = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(restNs);
        }
    }

    /** The time after which a load that stands still is given up. */
    static Duration patience() {
        return Duration.ofSeconds(60);
    }

    @Override
    public void close() {
        closed = true;
        later.shutdownNow();
        router.close();
    }
}

package io.minutehand.router;

import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.write.JobForms;
import io.minutehand.core.write.JobForms.Draft;
import io.minutehand.core.write.JobForms.When;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One {@code scheduleAll}: reads the collection twice. The first pass checks every item, so that a bad one is refused before anything is sent;
 * it keeps the first {@link #KEPT_BYTES} of what it encoded, so that small collections are encoded once and huge ones take no more memory. The
 * second pass hands the items over one by one, as the buffer lets them in.
 */
final class BulkSchedule implements WaitingJob.Sink {
    private static final long KEPT_BYTES = 4L * 1024 * 1024;

    /**
     * Items under way at once: some batches for each of a topic's shards. More would gain nothing, but would keep the jobs of other callers
     * waiting behind them, and age in their lanes towards their deadlines when Redis is slow.
     */
    private static final int WINDOW = 8192;

    /** Answers that are counted before the caller may go on: it is not to be switched in and out for each. */
    private static final int STEP = 1024;

    /** Hands an item over; throws what {@link Admission#admit} does. */
    interface Handover {
        void accept(Draft draft, BulkSchedule sink, int index);
    }

    private final CompletableFuture<BatchResult> future = new CompletableFuture<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final List<Draft> kept = new ArrayList<>();
    private final TraceContext trace;
    private final JobForms forms;
    private final Collection<? extends JobSpec<?>> specs;
    private @Nullable ScheduleResult[] results = new ScheduleResult[0];
    private final AtomicInteger open = new AtomicInteger();
    private final Semaphore window = new Semaphore(WINDOW);
    private final RouterSettings settings;

    BulkSchedule(RouterSettings settings, JobForms forms, Collection<? extends JobSpec<?>> specs, TraceContext trace) {
        this.trace = trace;
        this.settings = settings;
        this.forms = forms;
        this.specs = specs;
    }

    CompletableFuture<BatchResult> future() {
        return future;
    }

    /** The first pass. */
    void check() {
        long keptBytes = 0;
        int items = 0;
        for (JobSpec<?> spec : specs) {
            try {
                if (spec == null) {
                    throw new IllegalArgumentException("it is null");
                }
                if (keptBytes < KEPT_BYTES) {
                    Draft draft = draft(spec);
                    keptBytes += RouterSettings.heldBytes(draft);
                    kept.add(draft);
                } else {
                    forms.check(spec);
                }
            } catch (IllegalArgumentException bad) {
                throw new IllegalArgumentException(
                        "item " + items + " of the collection: " + bad.getMessage() + "; none of its items was sent",
                        bad);
            }
            items++;
        }
        results = new ScheduleResult[items];
        open.set(items);
        if (items == 0) {
            future.complete(new BatchResult(List.of()));
        }
    }

    /** In the trace of the call, unless the job is in one already. */
    private Draft draft(JobSpec<?> spec) {
        return forms.draft(trace.isNone() || !TraceContext.of(spec.headers()).isNone() ? spec : trace.into(spec));
    }

    /** The second pass; returns when all items are handed over, or one found no room: then it and the rest are NOT_STORED. */
    void handOver(Handover handover) {
        int index = 0;
        boolean room = true;
        for (JobSpec<?> spec : specs) {
            if (index == results.length) {
                throw new IllegalStateException("the collection grew while it was read, to more than " + index);
            }
            room = room && windowOpens();
            if (room) {
                try {
                    handover.accept(index < kept.size() ? kept.set(index, null) : draft(spec), this, index);
                } catch (RouterBufferFullException | IllegalStateException noRoom) {
                    room = false;
                }
            }
            if (!room) {
                answered(index, unsent(spec));
            }
            index++;
        }
        if (index < results.length) {
            // Nobody would ever answer for those that have gone.
            throw new IllegalStateException(
                    "the collection shrank while it was read, from " + results.length + " to " + index);
        }
    }

    /** Waits until few enough items are under way, at most as long as a call may block; one that must not block does not wait. */
    private boolean windowOpens() {
        if (settings.onFull() == OnFull.FAIL || window.tryAcquire()) {
            return true;
        }
        try {
            return window.tryAcquire(settings.blockFor().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static ScheduleResult unsent(JobSpec<?> spec) {
        String id = spec.id() == null ? JobId.random() : spec.id();
        long dueMs = When.of(spec).dueMs(System.currentTimeMillis() * 1000);
        return new ScheduleResult(id, ScheduleResult.Status.NOT_STORED, null, dueMs);
    }

    @Override
    public void answered(int index, ScheduleResult result) {
        results[index] = result;
        settled();
    }

    @Override
    public void failed(int index, Throwable cause) {
        failure.compareAndSet(null, cause);
        settled();
    }

    @SuppressWarnings("NullAway") // all results are there when nothing is open and nothing failed
    private void settled() {
        int left = open.decrementAndGet();
        if ((results.length - left) % STEP == 0) {
            window.release(STEP);
        }
        if (left == 0) {
            Throwable cause = failure.get();
            if (cause != null) {
                future.completeExceptionally(cause);
            } else {
                future.complete(new BatchResult(Arrays.asList(results)));
            }
        }
    }
}

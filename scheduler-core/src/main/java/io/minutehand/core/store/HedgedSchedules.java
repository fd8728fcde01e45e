package io.minutehand.core.store;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends a call of {@code schedule} once more when its answer is overdue, twice at most (a hedged request, see Dean and Barroso, The Tail at Scale,
 * 2013): a lost reply holds up what waits behind the call for a tenth of the reply time-out instead of all of it. The first answer counts if it created
 * every job; otherwise its twins may have created them, and their answers are waited for a little, so that jobs are rarely said to exist that
 * this very call has created. Thread-safe.
 */
public final class HedgedSchedules {
    /** Answers of twins that Redis executed together arrive together; a lost one never comes. */
    private static final Duration GRACE = Duration.ofMillis(50);

    /**
     * What a call and its twins came to.
     *
     * @param outcome the answer that counts
     * @param doubtful whether another twin was not answered, so that it may have stored something, or may yet
     */
    public record Answer(ScheduleOutcome outcome, boolean doubtful) {}

    private final Executor executor;
    private final long graceNs;
    private final Patience patience = new Patience();

    /** @param executor runs what sends a twin */
    public HedgedSchedules(Executor executor) {
        this(executor, GRACE);
    }

    /** @param grace how long the answers of twins are waited for once one has come that did not create all */
    HedgedSchedules(Executor executor, Duration grace) {
        this.executor = executor;
        this.graceNs = grace.toNanos();
    }

    /**
     * Sends a call, and its twins until an answer has come.
     *
     * @param call sends it; without jobs that replace others: a twin that comes late could undo a later replacement
     * @param deadlineNs nanoTime after which no twin is sent
     * @return fails with {@link StoreException} when no twin is answered, of kind UNKNOWN if any of them may have been executed
     */
    public CompletableFuture<Answer> send(Supplier<CompletableFuture<ScheduleOutcome>> call, long deadlineNs) {
        Hedged hedged = new Hedged(call, deadlineNs);
        hedged.send();
        hedged.later(1);
        return hedged.answer;
    }

    private final class Hedged {
        private final Supplier<CompletableFuture<ScheduleOutcome>> call;
        private final long deadlineNs;
        private final long sentNs = System.nanoTime();
        private final CompletableFuture<Answer> answer = new CompletableFuture<>();

        /** Twins sent that have not been answered; the call itself is the first of them. */
        private int unanswered = 1;

        private @Nullable ScheduleOutcome best;
        private @Nullable StoreException worst;

        Hedged(Supplier<CompletableFuture<ScheduleOutcome>> call, long deadlineNs) {
            this.call = call;
            this.deadlineNs = deadlineNs;
        }

        /** Sends a twin when it is due, and the next one later. */
        void later(int twin) {
            if (twin > Patience.TWINS || answer.isDone()) {
                return;
            }
            after(sentNs + patience.twinNs(twin) - System.nanoTime(), () -> {
                if (wanted()) {
                    send();
                    later(twin + 1);
                }
            });
        }

        /** Whether one more twin is worth sending; it counts as unanswered from then on. */
        private synchronized boolean wanted() {
            boolean wanted = best == null && unanswered > 0 && System.nanoTime() - deadlineNs < 0;
            unanswered += wanted ? 1 : 0;
            return wanted;
        }

        void send() {
            long startNs = System.nanoTime();
            call.get().whenComplete((outcome, thrown) -> {
                if (thrown == null) {
                    // Also of the slower twin: it tells how long answers take.
                    patience.answered(System.nanoTime() - startNs);
                    answered(outcome);
                } else {
                    failed(StoreException.of(thrown));
                }
            });
        }

        private void answered(ScheduleOutcome outcome) {
            boolean settled;
            boolean first;
            synchronized (this) {
                unanswered--;
                first = best == null;
                ScheduleOutcome better = best == null || created(outcome) > created(best) ? outcome : best;
                best = better;
                settled = unanswered == 0 || created(better) == better.items().size();
            }
            if (settled) {
                settle();
            } else if (first) {
                after(graceNs, this::settle);
            }
        }

        private void failed(StoreException failure) {
            synchronized (this) {
                unanswered--;
                if (worst == null || failure.kind() == StoreException.Kind.UNKNOWN) {
                    worst = failure;
                }
                if (unanswered > 0) {
                    return;
                }
            }
            settle();
        }

        private void settle() {
            ScheduleOutcome outcome;
            StoreException failure;
            boolean doubtful;
            synchronized (this) {
                outcome = best;
                failure = worst;
                doubtful = unanswered > 0 || failure != null && failure.kind() == StoreException.Kind.UNKNOWN;
            }
            if (outcome != null) {
                answer.complete(new Answer(outcome, doubtful));
            } else {
                answer.completeExceptionally(Objects.requireNonNull(failure, "failure"));
            }
        }

        private void after(long ns, Runnable task) {
            CompletableFuture.delayedExecutor(ns, TimeUnit.NANOSECONDS, executor)
                    .execute(task);
        }
    }

    private static long created(ScheduleOutcome outcome) {
        return outcome.items().stream()
                .filter(item -> item.status() == ScheduleOutcome.ItemStatus.CREATED)
                .count();
    }
}

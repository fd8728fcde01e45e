package io.minutehand.worker;

import io.minutehand.core.store.Patience;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.Telemetry;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a call on Redis, exactly alike, until it is answered: every script that a node runs may be repeated. A call that is not answered when
 * an answer is long due is sent once more before it is given up, twice at most, and the first answer counts (a hedged request, see Dean and
 * Barroso, The Tail at Scale, 2013): a lost reply costs a tenth of the reply time-out instead of all of it. One line a second at most tells of an outage. Only
 * the node's thread uses this.
 */
final class StoreCalls {
    private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);
    private static final long FIRST_PAUSE_MS = 20;
    private static final long LONGEST_PAUSE_MS = 500;

    /** Takes the answer of a call. */
    interface Answer<T> {
        /**
         * Called once, on the node's thread.
         *
         * @param value the answer, or null when there is none
         * @param failure why there is none, or null
         * @param tries how often the call was sent
         */
        void take(@Nullable T value, @Nullable StoreException failure, Tries tries);
    }

    /**
     * How often a call was sent.
     *
     * @param sent from 1
     * @param failed how many of these got no answer or a refusal that may pass
     */
    record Tries(int sent, int failed) {
        static final Tries NONE = new Tries(0, 0);

        /** Whether an answer may be that of an earlier or later twin. */
        boolean repeated() {
            return sent > 1;
        }

        private Tries oneMoreSent() {
            return new Tries(sent + 1, failed);
        }

        private Tries oneMoreFailed() {
            return new Tries(sent, failed + 1);
        }
    }

    private final DueTimer timer;
    private final Telemetry telemetry;
    private final LogLimiter limiter = new LogLimiter(1);
    private final Patience patience = new Patience();

    /** What may have to be sent once more, in the order in which it was sent first; by how often that was done already. */
    private final List<Deque<Attempt<?>>> waiting = List.of(new ArrayDeque<>(), new ArrayDeque<>());

    private final DueTimer.Timer hedgeTimer;

    StoreCalls(DueTimer timer, Telemetry telemetry) {
        this.timer = timer;
        this.telemetry = telemetry;
        this.hedgeTimer = timer.timer(this::hedge);
    }

    /** Sends until it is answered, refused for good, or {@code wanted} says no. */
    <T> void repeat(String topic, BooleanSupplier wanted, Supplier<CompletableFuture<T>> call, Answer<T> answer) {
        new Attempt<>(topic, wanted, call, answer, Tries.NONE, FIRST_PAUSE_MS).begin();
    }

    /** Sends once more what has not been answered in the time that an answer may take. */
    private void hedge() {
        for (int done = 0; done < Patience.TWINS; done++) {
            hedge(done);
        }
    }

    private void hedge(int done) {
        Deque<Attempt<?>> queue = waiting.get(done);
        long nowNs = timer.nowNs();
        for (Attempt<?> oldest = queue.peek(); oldest != null; oldest = queue.peek()) {
            long dueNs = oldest.sentNs + patience.twinNs(done + 1);
            if (!oldest.over && dueNs - nowNs > 0) {
                hedgeTimer.setBy(dueNs);
                return;
            }
            queue.poll();
            if (!oldest.over && oldest.wanted.getAsBoolean()) {
                oldest.send();
                if (done + 1 < Patience.TWINS) {
                    waiting.get(done + 1).add(oldest);
                }
            }
        }
    }

    /** A call until one of its twins is answered or all are given up. */
    private final class Attempt<T> {
        private final String topic;
        private final BooleanSupplier wanted;
        private final Supplier<CompletableFuture<T>> call;
        private final Answer<T> answer;
        private final long pauseMs;
        private Tries tries;
        private int unanswered;
        private long sentNs;
        private boolean over;

        Attempt(
                String topic,
                BooleanSupplier wanted,
                Supplier<CompletableFuture<T>> call,
                Answer<T> answer,
                Tries tries,
                long pauseMs) {
            this.topic = topic;
            this.wanted = wanted;
            this.call = call;
            this.answer = answer;
            this.tries = tries;
            this.pauseMs = pauseMs;
        }

        void begin() {
            sentNs = timer.nowNs();
            send();
            if (!over) {
                waiting.get(0).add(this);
                hedgeTimer.setBy(sentNs + patience.twinNs(1));
            }
        }

        void send() {
            tries = tries.oneMoreSent();
            unanswered++;
            long nowNs = timer.nowNs();
            call.get().whenComplete(guarded((value, thrown) -> {
                unanswered--;
                if (thrown == null) {
                    // Also of the slower twin: it tells how long answers take.
                    patience.answered(timer.nowNs() - nowNs);
                }
                if (over) {
                    return;
                }
                if (thrown == null) {
                    over = true;
                    answer.take(value, null, tries);
                } else {
                    failed(thrown);
                }
            }));
        }

        private void failed(Throwable thrown) {
            StoreException failure = StoreCalls.this.failed(topic, thrown);
            tries = tries.oneMoreFailed();
            boolean again = failure.kind().repeatable() && wanted.getAsBoolean();
            if (again && unanswered > 0) {
                return;
            }
            over = true;
            if (!again) {
                answer.take(null, failure, tries);
                return;
            }
            long drawnMs = ThreadLocalRandom.current().nextLong(pauseMs / 2, pauseMs + 1);
            Attempt<T> next =
                    new Attempt<>(topic, wanted, call, answer, tries, Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
            timer.timer(next::begin).setAt(timer.nowNs() + TimeUnit.MILLISECONDS.toNanos(drawnMs));
        }
    }

    /** What takes an answer, so that a defect in it is told: a future would swallow it. */
    static <T> BiConsumer<@Nullable T, @Nullable Throwable> guarded(
            BiConsumer<@Nullable T, @Nullable Throwable> taker) {
        return (value, thrown) -> {
            try {
                taker.accept(value, thrown);
            } catch (Throwable defect) {
                log.error("store: an answer could not be taken", defect);
            }
        };
    }

    /** Counts and tells of a failed call. */
    StoreException failed(String topic, @Nullable Throwable thrown) {
        StoreException failure = StoreException.of(Objects.requireNonNull(thrown, "thrown"));
        telemetry.count(Telemetry.Counter.STORE_ERRORS, topic, 1);
        limiter.log(left ->
                log.warn("store: call failed kind={} cause=\"{}\"{}", failure.kind(), failure.getMessage(), left));
        return failure;
    }
}

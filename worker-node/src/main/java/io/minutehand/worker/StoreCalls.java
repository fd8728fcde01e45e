package io.minutehand.worker;

import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.Telemetry;
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
 * Repeats a call on Redis, exactly alike, until it is answered: every script that a node runs may be repeated. One line a second at most tells
 * of an outage. Only the node's thread uses this.
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
         * @param tries how often the call was sent, from 1
         */
        void take(@Nullable T value, @Nullable StoreException failure, int tries);
    }

    private final DueTimer timer;
    private final Telemetry telemetry;
    private final LogLimiter limiter = new LogLimiter(1);

    StoreCalls(DueTimer timer, Telemetry telemetry) {
        this.timer = timer;
        this.telemetry = telemetry;
    }

    /** Sends until it is answered, refused for good, or {@code wanted} says no. */
    <T> void repeat(String topic, BooleanSupplier wanted, Supplier<CompletableFuture<T>> call, Answer<T> answer) {
        attempt(topic, wanted, call, answer, 1, FIRST_PAUSE_MS);
    }

    private <T> void attempt(
            String topic,
            BooleanSupplier wanted,
            Supplier<CompletableFuture<T>> call,
            Answer<T> answer,
            int tries,
            long pauseMs) {
        call.get().whenComplete(guarded((value, thrown) -> {
            if (thrown == null) {
                answer.take(value, null, tries);
                return;
            }
            StoreException failure = failed(topic, thrown);
            if (!failure.kind().repeatable() || !wanted.getAsBoolean()) {
                answer.take(null, failure, tries);
                return;
            }
            long drawnMs = ThreadLocalRandom.current().nextLong(pauseMs / 2, pauseMs + 1);
            long nextPauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
            timer.timer(() -> attempt(topic, wanted, call, answer, tries + 1, nextPauseMs))
                    .setAt(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drawnMs));
        }));
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

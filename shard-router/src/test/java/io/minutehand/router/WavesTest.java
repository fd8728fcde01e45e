package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.router.Waves.Wave;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WavesTest {
    private final Waves waves = new Waves();

    @Test
    void shouldWaitForWhatCameBeforeAndNotForWhatCameAfter() {
        Wave first = waves.enter();
        CompletableFuture<Void> flush = waves.turn();
        Wave second = waves.enter();
        assertThat(flush).isNotDone();
        CompletableFuture<Void> both = waves.turn();
        first.leave();
        assertThat(flush).isCompleted();
        assertThat(both).isNotDone();
        second.leave();
        assertThat(both).isCompleted();
        assertThat(waves.turn()).isCompleted();
    }

    @Test
    void shouldWaitForEarlierWavesInALaterFlush() {
        Wave first = waves.enter();
        waves.turn();
        CompletableFuture<Void> flush = waves.turn();
        assertThat(flush).isNotDone();
        first.leave();
        assertThat(flush).isCompleted();
    }

    @Test
    void shouldLetNobodyInOnceClosed() {
        Wave open = waves.enter();
        CompletableFuture<Void> end = waves.close();
        assertThat(waves.enter()).isNull();
        assertThat(waves.closed()).isTrue();
        assertThat(end).isNotDone();
        open.leave();
        assertThat(end).isCompleted();
        assertThat(waves.close()).isCompleted();
    }

    @Test
    void shouldNotMissACallOfTheFlushingThread() throws Exception {
        AtomicLong open = new AtomicLong();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            // One thread flushes all the time, so that calls of the other fall between a look at the wave and its
            // closing.
            CompletableFuture<Void> flushing = CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < 100_000; i++) {
                            waves.turn();
                        }
                    },
                    pool);
            CompletableFuture<Long> missed = CompletableFuture.supplyAsync(
                    () -> {
                        long misses = 0;
                        while (!flushing.isDone()) {
                            Wave mine = waves.enter();
                            open.incrementAndGet();
                            CompletableFuture<Void> flush = waves.turn();
                            misses += flush.isDone() ? 1 : 0;
                            mine.leave();
                            misses += flush.isDone() ? 0 : 1;
                        }
                        return misses;
                    },
                    pool);
            assertThat(missed.get(30, TimeUnit.SECONDS)).isZero();
            assertThat(open.get()).isPositive();
        } finally {
            pool.shutdownNow();
        }
    }
}

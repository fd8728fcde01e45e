package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.router.BufferGate.Entry;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

class BufferGateTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

    private final BufferGate gate = new BufferGate(100);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private CompletableFuture<Entry> waiter(long bytes) {
        int before = gate.waiting();
        CompletableFuture<Entry> entry = CompletableFuture.supplyAsync(() -> gate.acquire(bytes, LONG_NS), threads);
        await("the caller waits").until(() -> gate.waiting() == before + 1 || entry.isDone());
        return entry;
    }

    @Test
    void shouldLetInWhatFitsAndRefuseTheRest() {
        assertThat(gate.tryAcquire(60)).isTrue();
        assertThat(gate.tryAcquire(41)).isFalse();
        assertThat(gate.tryAcquire(40)).isTrue();
        assertThat(gate.usedBytes()).isEqualTo(100);
        assertThat(gate.acquire(1, 1000)).isEqualTo(Entry.TIMED_OUT);
        gate.release(100);
        assertThat(gate.usedBytes()).isZero();
        assertThat(gate.acquire(1, 0)).isEqualTo(Entry.TAKEN);
    }

    @Test
    void shouldServeWaitersInTheirOrderAndLetNobodyOvertake() {
        gate.tryAcquire(100);
        CompletableFuture<Entry> large = waiter(90);
        CompletableFuture<Entry> small = waiter(5);
        gate.release(50);
        assertThat(gate.tryAcquire(1)).as("a newcomer, while others wait").isFalse();
        gate.release(50);
        assertThat(large.join()).isEqualTo(Entry.TAKEN);
        assertThat(small.join()).isEqualTo(Entry.TAKEN);
        assertThat(gate.usedBytes()).isEqualTo(95);
    }

    @Test
    void shouldEndAWaitByInterrupt() throws Exception {
        gate.tryAcquire(100);
        AtomicBoolean flag = new AtomicBoolean();
        CompletableFuture<Entry> entry = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            Entry how = gate.acquire(1, LONG_NS);
            flag.set(Thread.currentThread().isInterrupted());
            entry.complete(how);
        });
        caller.start();
        await("the caller waits").until(() -> gate.waiting() == 1);
        caller.interrupt();
        assertThat(entry.get(30, TimeUnit.SECONDS)).isEqualTo(Entry.INTERRUPTED);
        assertThat(flag).isTrue();
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void shouldRefuseAllWhoWaitWhenItCloses() {
        gate.tryAcquire(100);
        List<CompletableFuture<Entry>> waiters = List.of(waiter(1), waiter(2));
        gate.close();
        waiters.forEach(waiter -> assertThat(waiter.join()).isEqualTo(Entry.CLOSED));
        assertThat(gate.acquire(1, LONG_NS)).isEqualTo(Entry.CLOSED);
        gate.release(100);
        assertThat(gate.tryAcquire(1)).isFalse();
    }

    @Test
    void shouldNeverPassItsLimitNorLoseAWaiter() {
        AtomicLong held = new AtomicLong();
        AtomicLong most = new AtomicLong();
        List<CompletableFuture<Void>> callers = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            int bytes = 7 + 9 * t;
            callers.add(CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < 2000; i++) {
                            if (!gate.tryAcquire(bytes)) {
                                assertThat(gate.acquire(bytes, LONG_NS)).isEqualTo(Entry.TAKEN);
                            }
                            most.accumulateAndGet(held.addAndGet(bytes), Math::max);
                            Thread.yield();
                            held.addAndGet(-bytes);
                            gate.release(bytes);
                        }
                    },
                    threads));
        }
        CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new))
                .orTimeout(30, TimeUnit.SECONDS)
                .join();
        assertThat(most.get()).isBetween(70L, 100L);
        assertThat(gate.usedBytes()).isZero();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void shouldNotPinTheCarrierOfAVirtualThreadThatWaits() throws Exception {
        gate.tryAcquire(100);
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        int more = 4 * Runtime.getRuntime().availableProcessors();
        List<CompletableFuture<Entry>> waiters = new ArrayList<>();
        for (int i = 0; i < more; i++) {
            CompletableFuture<Entry> entry = new CompletableFuture<>();
            waiters.add(entry);
            start.invoke(null, (Runnable) () -> entry.complete(gate.acquire(1, LONG_NS)));
        }
        await("all wait, though there are more of them than carriers").until(() -> gate.waiting() == more);
        CompletableFuture<Void> other = new CompletableFuture<>();
        start.invoke(null, (Runnable) () -> other.complete(null));
        other.get(30, TimeUnit.SECONDS);
        gate.release(100);
        waiters.forEach(waiter -> assertThat(waiter.join()).isEqualTo(Entry.TAKEN));
    }
}

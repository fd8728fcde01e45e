package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DueTimerTest {
    /** Near the end of the numbers: nanoTime may start anywhere, and wrap around. */
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 50);

    private final DueTimer timer = new DueTimer("test", nowNs::get);
    private final List<String> ran = new ArrayList<>();

    private DueTimer.Timer named(String name) {
        return timer.timer(() -> ran.add(name));
    }

    @Test
    void shouldRunTasksInTheirOrderAndThenTimersInTheOrderOfTheirTimes() {
        named("late").setAt(nowNs.get() - 1);
        named("early").setAt(nowNs.get() - 5);
        named("future").setAt(nowNs.get() + 100);
        timer.execute(() -> ran.add("first"));
        timer.execute(() -> ran.add("second"));
        assertThat(timer.runOnce()).isEqualTo(4);
        assertThat(ran).containsExactly("first", "second", "early", "late");
        nowNs.addAndGet(99);
        assertThat(timer.runOnce()).isZero();
        nowNs.addAndGet(1);
        assertThat(timer.runOnce()).isEqualTo(1);
        assertThat(ran).endsWith("future");
    }

    @Test
    void shouldMoveATimerThatIsSetAgain() {
        DueTimer.Timer moved = named("moved");
        moved.setAt(nowNs.get() + 10);
        moved.setAt(nowNs.get() + 20);
        nowNs.addAndGet(15);
        assertThat(timer.runOnce()).isZero();
        moved.setBy(nowNs.get() + 50);
        nowNs.addAndGet(5);
        assertThat(timer.runOnce()).isEqualTo(1);
        moved.setBy(nowNs.get() + 50);
        moved.setBy(nowNs.get() + 10);
        nowNs.addAndGet(10);
        assertThat(timer.runOnce()).isEqualTo(1);
        assertThat(ran).hasSize(2);
    }

    @Test
    void shouldNotRunATimerThatWasCancelled() {
        DueTimer.Timer cancelled = named("cancelled");
        cancelled.setAt(nowNs.get() + 10);
        cancelled.cancel();
        cancelled.cancel();
        nowNs.addAndGet(20);
        assertThat(timer.runOnce()).isZero();
        cancelled.setAt(nowNs.get());
        assertThat(timer.runOnce()).isEqualTo(1);
    }

    @Test
    void shouldLetATimerSetItselfAgain() {
        AtomicInteger runs = new AtomicInteger();
        DueTimer.Timer[] self = new DueTimer.Timer[1];
        self[0] = timer.timer(() -> {
            runs.incrementAndGet();
            self[0].setAt(nowNs.get() + 10);
        });
        self[0].setAt(nowNs.get());
        for (int i = 0; i < 5; i++) {
            timer.runOnce();
            nowNs.addAndGet(10);
        }
        assertThat(runs).hasValue(5);
    }

    @Test
    void shouldRunTimersBetweenTasksThatNeverEnd() {
        Runnable[] self = new Runnable[1];
        self[0] = () -> timer.execute(self[0]);
        timer.execute(self[0]);
        named("due").setAt(nowNs.get());
        timer.runOnce();
        assertThat(ran).containsExactly("due");
    }

    @Test
    void shouldOutliveATaskThatThrows() {
        timer.execute(() -> {
            throw new AssertionError("a defect");
        });
        timer.execute(() -> ran.add("next"));
        assertThat(timer.runOnce()).isEqualTo(2);
        assertThat(ran).containsExactly("next");
    }

    @Test
    void shouldKeepManyTimersInOrder() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            long atNs = nowNs.get() + random.nextInt(10_000);
            DueTimer.Timer one = timer.timer(() -> times.add(atNs));
            one.setAt(nowNs.get() + random.nextInt(10_000));
            if (random.nextInt(4) == 0) {
                one.cancel();
            }
            one.setAt(atNs);
        }
        nowNs.addAndGet(10_000);
        assertThat(timer.runOnce()).as("seed %d", seed).isEqualTo(2000);
        long originNs = nowNs.get() - 10_000;
        assertThat(times.stream().map(atNs -> atNs - originNs).toList())
                .as("seed %d", seed)
                .isSorted();
    }

    @Test
    void shouldRefuseTasksAfterItsEnd() throws Exception {
        DueTimer running = new DueTimer("test");
        running.start();
        CompletableFuture<Thread> thread = CompletableFuture.supplyAsync(Thread::currentThread, running);
        Thread own = thread.get(5, TimeUnit.SECONDS);
        running.close();
        own.join(5000);
        assertThat(own.isAlive()).isFalse();
        assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> running.execute(() -> {}));
    }

    @Test
    void shouldNotMissATaskThatComesWhileItFallsAsleep() throws Exception {
        DueTimer running = new DueTimer("test");
        running.start();
        try {
            for (int i = 0; i < 5000; i++) {
                CountDownLatch done = new CountDownLatch(1);
                running.execute(done::countDown);
                assertThat(done.await(5, TimeUnit.SECONDS)).as("task %d", i).isTrue();
            }
        } finally {
            running.close();
        }
    }

    @Test
    void shouldWakeWithinMillisecondsOfATimersTime() throws Exception {
        DueTimer running = new DueTimer("test");
        running.start();
        long[] latenessUs = new long[200];
        CountDownLatch done = new CountDownLatch(latenessUs.length);
        try {
            running.execute(() -> {
                long startNs = System.nanoTime();
                for (int i = 0; i < latenessUs.length; i++) {
                    int index = i;
                    long atNs = startNs + TimeUnit.MILLISECONDS.toNanos(2L * i + 1);
                    running.timer(() -> {
                                latenessUs[index] = (System.nanoTime() - atNs) / 1000;
                                done.countDown();
                            })
                            .setAt(atNs);
                }
            });
            assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            running.close();
        }
        Arrays.sort(latenessUs);
        System.out.printf(
                "due timer: lateness us p50=%d p99=%d max=%d%n",
                latenessUs[latenessUs.length / 2], latenessUs[latenessUs.length * 99 / 100], latenessUs[199]);
        assertThat(latenessUs[0]).as("never early").isNotNegative();
        assertThat(latenessUs[latenessUs.length / 2])
                .as("median, us: not a timer that ticks every 100 ms")
                .isLessThan(25_000);
    }
}

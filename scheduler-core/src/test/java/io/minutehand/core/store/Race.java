package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Two calls that start at a barrier, over and over. Whoever came first last time starts a little later next time, plus a random bit, so that
 * both orders come about however unlike the two are and however busy the machine is.
 */
final class Race implements AutoCloseable {
    /** Rounds of the races that a scheduler lives on. */
    static final int ROUNDS = Integer.getInteger("minutehand.race.rounds", 1000);

    /** Rounds of the rest, which are variations. */
    static final int FEWER = Math.max(1, ROUNDS / 4);

    private static final long SEED = Long.getLong("minutehand.race.seed", 20_260_101);
    private static final long STEP_NS = 20_000;
    private static final int JITTER_NS = 60_000;

    private final ExecutorService threads = Executors.newFixedThreadPool(2, task -> {
        Thread thread = new Thread(task, "racer");
        thread.setDaemon(true);
        return thread;
    });
    private final CyclicBarrier barrier = new CyclicBarrier(2);
    private final Random random = new Random(SEED);

    /** What both answered. */
    record Outcome<L, R>(L left, R right) {}

    /** Says of an outcome whether the left call came first, after checking that it is one of the two true ones. */
    interface Verdict<L, R> {
        boolean leftFirst(int round, Outcome<L, R> outcome);
    }

    /** A call in a round. */
    interface Runner<T> {
        T run(int round);
    }

    /** Runs all rounds; fails unless both orders came about. */
    <L, R> void run(String name, int rounds, Runner<?> seed, Runner<L> left, Runner<R> right, Verdict<L, R> verdict) {
        int leftFirst = 0;
        long leadNs = 0;
        for (int round = 0; round < rounds; round++) {
            seed.run(round);
            long leftNs = Math.max(0, leadNs) + random.nextInt(JITTER_NS);
            long rightNs = Math.max(0, -leadNs) + random.nextInt(JITTER_NS);
            int number = round;
            Future<L> first = threads.submit(() -> afterBarrier(leftNs, () -> left.run(number)));
            Future<R> second = threads.submit(() -> afterBarrier(rightNs, () -> right.run(number)));
            boolean wasFirst = verdict.leftFirst(round, new Outcome<>(answer(first), answer(second)));
            leftFirst += wasFirst ? 1 : 0;
            leadNs += wasFirst ? STEP_NS : -STEP_NS;
        }
        System.out.printf(
                "race %s: seed=%d rounds=%d orders=%d/%d%n", name, SEED, rounds, leftFirst, rounds - leftFirst);
        assertThat(leftFirst)
                .as("rounds of %s in which the first named was first", name)
                .isBetween(1, rounds - 1);
    }

    private <T> T afterBarrier(long delayNs, Callable<T> call) throws Exception {
        try {
            barrier.await();
        } catch (BrokenBarrierException e) {
            throw new IllegalStateException("the other racer gave up", e);
        }
        long startNs = System.nanoTime() + delayNs;
        while (System.nanoTime() - startNs < 0) {
            Thread.onSpinWait();
        }
        return call.call();
    }

    private static <T> T answer(Future<T> future) {
        try {
            return future.get();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException("a racer failed: " + e.getCause(), e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}

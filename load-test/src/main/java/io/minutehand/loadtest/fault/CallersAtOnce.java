package io.minutehand.loadtest.fault;

import io.minutehand.core.job.JobStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Row 30: far more callers at once than there are connections. */
final class CallersAtOnce implements FaultRow {
    private static final int CALLERS = 200;
    private static final int CALLS_OF_EACH = 10;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** A call's deadline. */
    private static final double LONGEST_MS = 10_000;

    private long answeredMs;
    private long failed;

    @Override
    public String number() {
        return "30";
    }

    @Override
    public String fault() {
        return "200 callers with 2,000 schedule and 2,000 find calls at once, over 8 connections";
    }

    @Override
    public String passLine() {
        return "nothing lost; no deadlock: each call is answered within its deadline of 10 s, none fails; duplicates 0";
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int rounds = arena.settings().full() ? 10 : 2;
        for (int round = 0; round < rounds; round++) {
            arena.untilLoad(0.1 + 0.8 * round / rounds);
            callAtOnce(arena, round);
        }
    }

    private void callAtOnce(Arena arena, int round) throws InterruptedException {
        long dueUs = (arena.clock().nowUs() + 2_000_000) / 1_000 * 1_000;
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        List<CompletableFuture<Optional<JobStatus>>> found = new ArrayList<>();
        long beganNs = System.nanoTime();
        for (int caller = 0; caller < CALLERS; caller++) {
            int first = caller * CALLS_OF_EACH;
            callers.execute(() -> {
                for (int i = first; i < first + CALLS_OF_EACH; i++) {
                    String id = "burst-" + round + "-" + i;
                    arena.load().offer(id, Deed.work(1), dueUs);
                    CompletableFuture<Optional<JobStatus>> answer =
                            arena.load().topic().find(id);
                    synchronized (found) {
                        found.add(answer);
                    }
                }
            });
        }
        callers.shutdown();
        if (!callers.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            callers.shutdownNow();
            throw new IllegalStateException("callers were blocked for longer than " + LIMIT);
        }
        arena.await(
                "all calls to be answered",
                LIMIT,
                () -> arena.load().areAllAnswered() && found.stream().allMatch(CompletableFuture::isDone));
        answeredMs = Math.max(answeredMs, (System.nanoTime() - beganNs) / 1_000_000);
        failed += found.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .count();
        arena.event("load", "called", CALLERS * CALLS_OF_EACH + " times each");
    }

    @Override
    public void judge(Judge judge) {
        judge.atMost("ms until all calls were answered", LONGEST_MS, answeredMs);
        judge.equal("find calls that failed", 0L, failed);
        judge.duplicatesAtMost(0);
    }
}

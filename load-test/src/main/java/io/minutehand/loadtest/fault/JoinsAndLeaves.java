package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Row 27: nodes join and leave in bursts, at twice the load. */
final class JoinsAndLeaves implements FaultRow {
    private static final long MINUTE_US = 60_000_000;

    /** After a change the assignment holds for minutes that begin so much later. */
    private static final long SETTLES_US = 10_000_000;

    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final Map<String, Long> owned = new TreeMap<>();
    private int changes;
    private long minuteUs;

    @Override
    public String number() {
        return "27";
    }

    @Override
    public String fault() {
        return "nodes join and leave in a burst: 3, 1, 3, 1, 3, at twice the load";
    }

    @Override
    public String passLine() {
        return "nothing lost; who leaves hands over: duplicates 0; lateness <= 2 s; in the minute that begins 10 s or more after the"
                + " last change (full form) each node runs within 20 % of what the assignment gives it";
    }

    @Override
    public RunSettings settings(boolean full) {
        return full
                ? RunSettings.of(true).withLoad(80_000, Duration.ofSeconds(200)).withSlots(32)
                : RunSettings.of(false)
                        .withDefaultTimes()
                        .withLoad(4_000, Duration.ofSeconds(12))
                        .withSlots(32);
    }

    @Override
    public void strike(Arena arena) throws Exception {
        for (int i = 0; i < 2; i++) {
            arena.untilLoad(part(arena, 10 + 20 * i));
            List<WorkerProcess> ready = arena.fleet().ready();
            for (WorkerProcess worker : ready.subList(1, ready.size())) {
                arena.event(worker.name(), "terminated", "");
                worker.terminate();
            }
            arena.untilLoad(part(arena, 20 + 20 * i));
            arena.addWorker();
            arena.addWorker();
            arena.awaitShared();
            changes += 4;
        }
        if (arena.settings().full()) {
            awaitWholeMinute(arena);
        }
    }

    /** A moment in seconds of the full form; in the short form a fourth of it. */
    private static double part(Arena arena, double seconds) {
        double lasts = arena.settings().lasts().toMillis() / 1_000.0;
        return (arena.settings().full() ? seconds : seconds / 4) / lasts;
    }

    private void awaitWholeMinute(Arena arena) throws InterruptedException {
        long settledUs = arena.clock().nowUs() + SETTLES_US;
        minuteUs = (settledUs + MINUTE_US - 1) / MINUTE_US * MINUTE_US;
        arena.await("the next whole minute to begin", LIMIT, () -> arena.clock().nowUs() > minuteUs + MINUTE_US / 10);
        for (WorkerProcess worker : arena.fleet().ready()) {
            if (Arena.isReady(worker)) {
                owned.put(worker.name(), worker.status().count("owned"));
            }
        }
        arena.await("it to end", LIMIT, () -> arena.clock().nowUs() > minuteUs + MINUTE_US);
    }

    @Override
    public void judge(Judge judge) {
        judge.equal("nodes that left or joined", 8, changes);
        judge.duplicatesAtMost(0);
        judge.equal("attempts counted", 0L, judge.attemptsRaised());
        judge.latenessAtMostMs(2_000);
        if (judge.arena().settings().full()) {
            judgeShares(judge);
        }
    }

    private void judgeShares(Judge judge) {
        Map<String, Long> ran = new TreeMap<>();
        for (Start start : judge.verdict().firstStarts()) {
            if (start.attempt() == 1 && start.dueUs() >= minuteUs && start.dueUs() < minuteUs + MINUTE_US) {
                ran.merge(start.node(), 1L, Long::sum);
            }
        }
        long all = ran.values().stream().mapToLong(Long::longValue).sum();
        judge.atLeast("jobs due in the whole minute", 10_000, all);
        judge.equal("nodes that ran some of them", owned.keySet(), ran.keySet());
        owned.forEach((node, shards) -> {
            double assigned = (double) shards / judge.arena().settings().shards();
            double share = ran.getOrDefault(node, 0L) / (double) all;
            judge.atMost(
                    String.format(
                            Locale.ROOT,
                            "%% that the share of %s, %.1f %%, is off its %d shards",
                            node,
                            100 * share,
                            shards),
                    20,
                    100 * Math.abs(share - assigned) / assigned);
        });
    }
}

package io.minutehand.loadtest.fault;

import java.time.Duration;
import java.util.List;

/** Row 20: the clocks of the machines that nodes run on are wrong: an hour fast, an hour slow, and one that jumps. */
final class WorkerClocks implements FaultRow {
    private static final double LATE_MS = 1_000;

    private static final long HOUR_S = 3_600;
    private static final List<String> NODES = List.of("node-1", "node-2", "node-3");
    private static final String JUMPS = NODES.get(2);

    private int jumps;

    @Override
    public String number() {
        return "20";
    }

    @Override
    public String fault() {
        return "clocks of the nodes: one an hour fast, one an hour slow, one jumps";
    }

    @Override
    public String passLine() {
        return "as without a fault: nothing lost, nothing early; duplicates 0, no lease lost, no job recovered;"
                + " lateness <= 1 s";
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withDefaultTimes().withClocks(RunSettings.Clocks.OF_WORKERS);
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoad(0.1);
        arena.clockOf(NODES.get(0)).set(Duration.ofSeconds(HOUR_S));
        arena.clockOf(NODES.get(1)).set(Duration.ofSeconds(-HOUR_S));
        arena.event("clocks", "set", "an hour fast and an hour slow");
        while (!arena.isPast(0.9)) {
            arena.clockOf(JUMPS).set(Duration.ofSeconds(arena.random().nextLong(-HOUR_S, HOUR_S)));
            jumps++;
            Thread.sleep(300);
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("jumps", 10, jumps);
        // The nodes note their own clocks: without a difference nothing was broken.
        judge.atLeast("jobs started by a clock that was half an hour off or more", 100, judge.startedByAWrongClock());
        judge.duplicatesAtMost(0);
        judge.equal("leases lost", 0L, judge.counted("lease_lost"));
        judge.equal("jobs recovered", 0L, judge.counted("recovered"));
        judge.equal("attempts raised", 0L, judge.attemptsRaised());
        judge.latenessAtMostMs(LATE_MS);
    }
}

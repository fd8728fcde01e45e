package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.WorkerProcess;

/**
 * Rows 1 to 3: a node is killed with jobs at a known point. All its jobs are held there by a barrier first, so that the
 * moment is exact.
 *
 * @param number of the row
 * @param point where the jobs are
 */
record KilledWhileHeld(String number, HoldPoint point) implements FaultRow {
    private static final double LATE_MS = 10_000;

    @Override
    public String fault() {
        return switch (point) {
            case POPPED -> "kill -9 after pop, before the handler";
            case HANDLER -> "kill -9 inside the handler";
            case ACK -> "kill -9 after the handler, before the ack";
        };
    }

    @Override
    public String passLine() {
        String twice = point == HoldPoint.POPPED
                ? "each id started once: duplicates 0"
                : "duplicates <= jobs in flight on the killed node";
        return "nothing lost; " + twice + "; late <= 10 s; take-over <= lease + 2 s";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int times = arena.settings().full() ? 4 : 1;
        for (int i = 0; i < times; i++) {
            double part = 0.6 / times;
            arena.untilLoadBetween(0.15 + i * part, 0.15 + i * part + part / 3);
            WorkerProcess victim = arena.anyWorker();
            arena.holdAll(victim, point);
            RedisProbe.Holdings holdings = arena.halt(victim);
            arena.kill(victim, holdings);
            if (i + 1 < times) {
                arena.addWorker();
                arena.awaitShared();
            }
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("jobs in flight on the killed nodes", 1, judge.arena().exposed());
        if (point == HoldPoint.POPPED) {
            judge.duplicatesAtMost(0);
        } else {
            judge.atLeast("duplicates", 1, judge.verdict().repeatedStarts().size());
            judge.duplicatesOfExposedOnly();
        }
        judge.equal("attempts raised by it", 0L, judge.attemptsRaised());
        judge.latenessAtMostMs(LATE_MS);
        judge.takeoverInTime();
    }
}

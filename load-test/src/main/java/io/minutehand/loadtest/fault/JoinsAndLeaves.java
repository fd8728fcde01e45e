package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import java.time.Duration;
import java.util.List;

/** Row 27: nodes join and leave in bursts, at twice the load. */
final class JoinsAndLeaves implements FaultRow {
    private int changes;

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
        return "nothing lost; who leaves hands over: duplicates 0; lateness <= 2 s";
    }

    @Override
    public RunSettings settings(boolean full) {
        return full
                ? RunSettings.of(true).withLoad(20_000, Duration.ofSeconds(50)).withSlots(32)
                : RunSettings.of(false).withLoad(4_000, Duration.ofSeconds(12)).withSlots(32);
    }

    @Override
    public void strike(Arena arena) throws Exception {
        for (int i = 0; i < 2; i++) {
            arena.untilLoad(0.1 + 0.4 * i);
            List<WorkerProcess> ready = arena.fleet().ready();
            for (WorkerProcess worker : ready.subList(1, ready.size())) {
                arena.event(worker.name(), "terminated", "");
                worker.terminate();
            }
            arena.untilLoad(0.3 + 0.4 * i);
            arena.addWorker();
            arena.addWorker();
            arena.awaitShared();
            changes += 4;
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.equal("nodes that left or joined", 8, changes);
        judge.duplicatesAtMost(0);
        judge.equal("attempts counted", 0L, judge.attemptsRaised());
        judge.latenessAtMostMs(2_000);
    }
}

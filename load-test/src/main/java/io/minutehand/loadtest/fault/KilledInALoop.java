package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import java.time.Duration;

/** Row 5: nodes are killed one after the other, in whatever they just do: claim, renew, pop, release. */
final class KilledInALoop implements FaultRow {
    private int times;

    @Override
    public String number() {
        return "5";
    }

    @Override
    public String fault() {
        return "kill -9 of one node after the other, at any moment";
    }

    @Override
    public String passLine() {
        return "nothing lost; duplicates <= jobs in flight on the killed nodes; take-over <= lease + 2 s each time: no"
                + " job waits longer from its due time, or from a further death of a node that held it";
    }

    @Override
    public RunSettings settings(boolean full) {
        // A killed node's successor takes some seconds to start: fifty take minutes.
        return full
                ? RunSettings.of(true).withLoad(36_000, Duration.ofMinutes(6))
                : RunSettings.of(false).withLoad(3_000, Duration.ofSeconds(12));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int wanted = arena.settings().full() ? 50 : 3;
        arena.untilLoad(0.05);
        while (times < wanted) {
            Thread.sleep(arena.random().nextInt(1_500));
            WorkerProcess victim = arena.anyWorker();
            arena.kill(victim);
            times++;
            arena.addWorker();
            arena.awaitShared();
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("nodes killed", judge.arena().settings().full() ? 50 : 3, times);
        judge.duplicatesOfExposedOnly();
        judge.takeoverInTime();
        judge.equal("attempts raised by it", 0L, judge.attemptsRaised());
    }
}

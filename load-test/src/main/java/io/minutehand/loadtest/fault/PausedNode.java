package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import java.time.Duration;

/** Row 8: a node does not run for longer than lease and visibility, and then goes on. */
final class PausedNode implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private long popsOfTheOldId;
    private boolean sameId;

    @Override
    public String number() {
        return "8";
    }

    @Override
    public String fault() {
        return "SIGSTOP longer than lease and visibility, then SIGCONT";
    }

    @Override
    public String passLine() {
        return "nothing lost; no pop under the old id after it; FENCED or STALE counted >= 1; duplicates <= jobs in"
                + " flight on the node; it comes back under a new id and works";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withWork(Duration.ofMillis(60));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoadBetween(0.1, 0.25);
        WorkerProcess victim = arena.anyWorker();
        String oldId = String.valueOf(victim.nodeId());
        // Its handlers must have begun: the job of a pop whose answer it had not read yet leaves no ack to refuse.
        arena.holdAll(victim, HoldPoint.HANDLER);
        arena.haltAtWork(victim, LIMIT);
        // Longer than the visibility, and than the lease.
        Thread.sleep(arena.settings().full() ? 20_000 : 4_000);
        arena.awaitStruckOff(oldId);
        long before = PopWatch.popsOf(arena, oldId);
        HoldPoint.release(arena.workDir(), victim.name());
        arena.resume(victim);
        arena.await(
                victim.name() + " to come back under another id",
                LIMIT,
                () -> Arena.isReady(victim) && !oldId.equals(victim.nodeId()));
        arena.event(victim.name(), "back", "under another id");
        sameId = oldId.equals(victim.nodeId());
        arena.untilLoad(1);
        popsOfTheOldId = PopWatch.popsOf(arena, oldId) - before;
    }

    @Override
    public void judge(Judge judge) {
        judge.equal("pops under the old id after the pause", 0L, popsOfTheOldId);
        judge.atLeast("STALE and FENCED", 1, judge.counted("stale") + judge.counted("fenced"));
        judge.duplicatesOfExposedOnly();
        judge.equal("back under the same id", false, sameId);
        judge.equal("attempts raised by it", 0L, judge.attemptsRaised());
    }
}

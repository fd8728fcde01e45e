package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Row 9: nodes do not run for a while that is shorter than their trust in their leases. */
final class BriefPauses implements FaultRow {
    private final Map<WorkerProcess, String> ids = new HashMap<>();
    private int times;

    @Override
    public String number() {
        return "9";
    }

    @Override
    public String fault() {
        return "SIGSTOP shorter than the trust in a lease, again and again";
    }

    @Override
    public String passLine() {
        return "nothing changes: no lease lost, no job recovered, no node under another id; duplicates 0";
    }

    @Override
    public RunSettings settings(boolean full) {
        return full
                ? RunSettings.of(true).withLoad(18_000, Duration.ofSeconds(90))
                : RunSettings.of(false).withDefaultTimes();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        boolean full = arena.settings().full();
        arena.fleet().ready().forEach(worker -> ids.put(worker, String.valueOf(worker.nodeId())));
        int wanted = full ? 20 : 3;
        while (times < wanted) {
            Thread.sleep(300 + arena.random().nextInt(700));
            WorkerProcess worker = arena.anyWorker();
            arena.halt(worker);
            Thread.sleep(full ? 3_000 : 2_000);
            arena.resume(worker);
            times++;
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("pauses", judge.arena().settings().full() ? 20 : 3, times);
        ids.forEach((worker, id) -> judge.equal("id of " + worker.name(), id, worker.nodeId()));
        judge.equal("leases lost", 0L, judge.counted("lease_lost"));
        judge.equal("jobs recovered", 0L, judge.counted("recovered"));
        judge.duplicatesAtMost(0);
    }
}

package io.minutehand.loadtest.fault;

import io.minutehand.redis.RedisCommands;
import io.minutehand.router.ScheduleResult.Status;

/** Row 24: the server forgets all scripts, again and again. */
final class ScriptsFlushed implements FaultRow {
    private static final long EVERY_MS = 200;

    private int times;

    @Override
    public String number() {
        return "24";
    }

    @Override
    public String fault() {
        return "SCRIPT FLUSH each 200 ms";
    }

    @Override
    public String passLine() {
        return "nothing lost; no call fails, of producers or nodes; duplicates 0";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public void strike(Arena arena) throws Exception {
        try (RedisCommands redis = arena.commands()) {
            while (!arena.isPast(1)) {
                redis.call("SCRIPT", "FLUSH");
                times++;
                Thread.sleep(EVERY_MS);
            }
        }
        arena.event("redis", "scripts flushed", times + " times");
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("flushes", 20, times);
        judge.equal("calls of nodes that failed", 0L, judge.counted("store_errors"));
        long refused = 0;
        for (Status status : Status.values()) {
            refused += isStored(status) ? 0 : judge.answers(status);
        }
        judge.equal("schedule calls that stored nothing", 0L, refused);
        judge.duplicatesAtMost(0);
    }

    /** Each id is asked for once: what exists was stored by the same call, which the router repeats when its answer is overdue. */
    private static boolean isStored(Status status) {
        return status == Status.CREATED || status == Status.EXISTS;
    }
}

package io.minutehand.loadtest.fault;

import java.time.Duration;

/**
 * Row 21: the clock of Redis, by which everything is judged, is stepped: forward and back, then back and forward. While
 * it is ahead jobs run ahead of their time, while it is behind they wait; nothing else may come of it.
 */
final class RedisClockStepped implements FaultRow {
    private long stepS;

    @Override
    public String number() {
        return "21";
    }

    @Override
    public String fault() {
        return "the clock of Redis is stepped, 5 min (30 s in the short form) forward and back, then back and forward";
    }

    @Override
    public String passLine() {
        return "nothing lost, counters agree; duplicates <= jobs that could be in flight at the four steps";
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withClocks(RunSettings.Clocks.OF_REDIS);
    }

    /** A retry that was planned while the clock was ahead comes by so much later. */
    @Override
    public Duration drains() {
        return Duration.ofMinutes(7);
    }

    @Override
    public boolean keepsTime() {
        return false;
    }

    @Override
    public void strike(Arena arena) throws Exception {
        stepS = arena.settings().full() ? 300 : 30;
        double at = 0.1;
        for (long offsetS : new long[] {stepS, 0, -stepS, 0}) {
            arena.untilLoadBetween(at, at + 0.1);
            // To whom the others look as if they had not been seen for minutes, they are dead.
            arena.exposeAllSlots();
            arena.redis().setClock(Duration.ofSeconds(offsetS));
            arena.event("redis", "clock set", String.format(java.util.Locale.ROOT, "%+d s", offsetS));
            at += 0.2;
        }
    }

    @Override
    public void judge(Judge judge) {
        long ahead = judge.verdict().firstStarts().stream()
                .filter(start -> start.startUs() - start.dueUs() > stepS * 500_000)
                .count();
        judge.atLeast("jobs that ran ahead of their time", 10, ahead);
        judge.duplicatesOfExposedOnly();
        judge.equal("attempts raised by it", 0L, judge.attemptsRaised());
    }
}

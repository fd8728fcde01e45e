package io.minutehand.loadtest.fault;

import java.time.Duration;

/** Row 22: handlers take three times the visibility; the nodes extend the deadlines meanwhile. */
final class SlowHandlers implements FaultRow {
    private static final int COUNT = 12;

    @Override
    public String number() {
        return "22";
    }

    @Override
    public String fault() {
        return "handlers slower than the visibility";
    }

    @Override
    public String passLine() {
        return "nothing lost; the deadline is extended: duplicates 0, no attempt more, no acknowledgement STALE";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        RunSettings settings = RunSettings.of(full);
        return full ? settings : settings.withLoad(1_000, Duration.ofSeconds(5));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        long ms = 3 * arena.settings().visibility().toMillis();
        arena.untilLoadBetween(0.05, 0.15);
        long dueUs = arena.clock().nowUs() / 1_000 * 1_000;
        for (int i = 0; i < COUNT; i++) {
            arena.load().offer("slow-" + i, Deed.work(ms), dueUs + i * 100_000L);
        }
        arena.event("load", "slow handlers", COUNT + " of " + ms + " ms each");
    }

    @Override
    public void judge(Judge judge) {
        long slow = judge.verdict().firstStarts().stream()
                .filter(start -> start.id().startsWith("slow-"))
                .count();
        judge.equal("slow handlers started", (long) COUNT, slow);
        judge.duplicatesAtMost(0);
        judge.equal("attempts raised", 0L, judge.attemptsRaised());
        judge.equal("acknowledgements refused as STALE", 0L, judge.counted("stale"));
        judge.equal("jobs recovered", 0L, judge.counted("recovered"));
    }
}

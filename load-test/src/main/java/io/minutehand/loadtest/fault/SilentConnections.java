package io.minutehand.loadtest.fault;

import io.minutehand.redis.LinkProxy;
import java.util.List;

/**
 * Row 44: whatever connections are open fall silent at once, on all links, as when a firewall forgets them: nothing passes
 * on them any more, and nobody is told. New connections pass.
 */
final class SilentConnections implements FaultRow {
    /** A ping is sent after 1 s at most, and unanswered for 1 s it ends the connection; a call on it is repeated after 1 s. */
    private static final double LATE_MS = 4_000;

    private static final double FIRST_AT = 0.15;
    private static final double LAST_AT = 0.85;

    private List<String> nodesBefore = List.of();

    @Override
    public String number() {
        return "44";
    }

    @Override
    public String fault() {
        return "all open connections fall silent at once and stay open (a firewall forgets them), several times";
    }

    @Override
    public String passLine() {
        return "nothing lost; duplicates 0; no second delivery; no job later than 4 s; no node struck off";
    }

    @Override
    public boolean isFast() {
        return false;
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withProxies().withSlots(64).withDefaultTimes();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int times = arena.settings().full() ? 5 : 2;
        nodesBefore = arena.nodeIds();
        for (int i = 0; i < times; i++) {
            arena.untilLoad(FIRST_AT + (LAST_AT - FIRST_AT) * i / times);
            arena.links().forEach(LinkProxy::forgetAll);
            arena.event("all links", "forgotten", "connections that were open stay silent");
        }
        arena.untilLoad(1);
    }

    @Override
    public void judge(Judge judge) {
        judge.duplicatesAtMost(0);
        judge.equal("starts of a delivery after the first", 0L, judge.redelivered());
        judge.equal("nodes at its end", nodesBefore, judge.arena().nodeIds());
        judge.equal("attempts raised", 0L, judge.attemptsRaised());
        judge.latenessAtMostMs(LATE_MS);
    }
}

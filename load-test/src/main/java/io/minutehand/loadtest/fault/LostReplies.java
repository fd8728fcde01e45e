package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.check.Lateness;
import io.minutehand.redis.LinkProxy;
import java.util.List;

/**
 * Rows 4 and 18: replies of scripts are lost at random, one of twenty, after the script was executed. The caller repeats.
 *
 * @param number of the row
 * @param ofProducers on the producers' link alone, or on all links
 */
record LostReplies(String number, boolean ofProducers) implements FaultRow {
    private static final double PROBABILITY = 0.05;
    private static final String SCRIPT = "EVALSHA";

    /** Nodes and producers ask again long before the reply time-out of 1 s: most jobs are not late at all. */
    private static final double LATE_MS = 1_000;

    /** Even if all three askings of one call are lost, the repeat comes after the reply time-out. */
    private static final double HIDDEN_MS = 2_000;

    @Override
    public String fault() {
        return ofProducers
                ? "replies of 5 % of the schedule calls lost"
                : "replies of 5 % of all calls lost (pop, ack, schedule, renew, ...)";
    }

    @Override
    public String passLine() {
        return ofProducers
                ? "nothing lost; accepted = distinct ids; duplicates 0; repeats are answered EXISTS"
                : "nothing lost; accepted = distinct ids; lateness p99 <= 1 s, no job hidden longer than 2 s; attempts not"
                        + " raised; no second delivery; done counted once";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        // Two lost beats in a row must not look like death: the reply time-out needs the default times beside it. And
        // as
        // many slots as by default: while a shard waits for a reply its jobs come due, and the next pop takes them all.
        return RunSettings.of(full).withProxies().withSlots(64).withDefaultTimes();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoad(0.05);
        for (LinkProxy link : ofProducers ? List.of(arena.routerLink()) : arena.links()) {
            long seed = arena.random().nextLong();
            link.loseRepliesAtRandom(SCRIPT, PROBABILITY, seed);
            arena.event(link.toString(), "loses replies", "seed " + seed);
        }
        arena.untilLoad(1);
    }

    @Override
    public void judge(Judge judge) {
        long lost = judge.arena().links().stream().mapToLong(LinkProxy::lost).sum();
        // On a busy machine many jobs share a call, and one of twenty calls is few in ten seconds.
        judge.atLeast("replies lost", judge.arena().settings().full() ? 50 : 3, lost);
        judge.duplicatesAtMost(0);
        judge.equal("attempts raised", 0L, judge.attemptsRaised());
        if (!ofProducers) {
            // What a repeat did not get would come back after the visibility, as another delivery.
            judge.equal("starts of a delivery after the first", 0L, judge.redelivered());
            Lateness late = judge.punctuality().all();
            judge.atMost("lateness p99 ms", LATE_MS + judge.slackMs(), late.p99());
            judge.latenessAtMostMs(HIDDEN_MS);
        }
    }
}

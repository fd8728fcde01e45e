package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.LinkProxy.Direction;
import java.time.Duration;
import java.util.List;

/** Row 17: one node is cut off from Redis, both ways and one way, while its connections stay open; then they are reset. */
final class CutOff implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private static final List<List<Direction>> WAYS = List.of(
            List.of(Direction.TO_SERVER, Direction.TO_CLIENT),
            List.of(Direction.TO_SERVER),
            List.of(Direction.TO_CLIENT));

    private long popsOfTheCutNode;
    private int times;

    @Override
    public String number() {
        return "17";
    }

    @Override
    public String fault() {
        return "a node cut off from Redis: black hole both ways, one way, the other way; then reset";
    }

    @Override
    public String passLine() {
        return "nothing lost; pops of the cut node after its leases ended = 0; others take over: lateness <= lease + 2 s;"
                + " duplicates <= jobs that it can have in flight; it heals by itself";
    }

    @Override
    public RunSettings settings(boolean full) {
        return (full
                        ? RunSettings.of(true).withLoad(18_000, Duration.ofSeconds(100))
                        : RunSettings.of(false).withLoad(4_000, Duration.ofSeconds(24)))
                .withProxies();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        RunSettings settings = arena.settings();
        arena.untilLoad(0.05);
        for (List<Direction> ways : WAYS) {
            WorkerProcess victim = arena.anyWorker();
            LinkProxy link = arena.link(victim);
            String oldId = String.valueOf(victim.nodeId());
            arena.expose(settings.slots());
            ways.forEach(link::blackHole);
            arena.event(victim.name(), "cut off", ways.toString());
            // Its leases end without it, whatever it sent before.
            Thread.sleep(settings.node().lease().toMillis() + 1_500);
            long before = PopWatch.popsOf(arena, oldId);
            Thread.sleep(settings.full() ? 12_500 : 2_000);
            popsOfTheCutNode += PopWatch.popsOf(arena, oldId) - before;
            link.resetAll();
            link.pass();
            arena.event(victim.name(), "linked again", "");
            arena.await(victim.name() + " to come back", LIMIT, () -> Arena.isReady(victim));
            arena.awaitShared();
            times++;
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.equal("times that a cut node came back", WAYS.size(), times);
        judge.equal("pops of the cut node after its leases ended", 0L, popsOfTheCutNode);
        judge.latenessAtMostMs(judge.arena().settings().takeover().toMillis());
        judge.duplicatesOfExposedOnly();
        judge.equal("attempts raised by it", 0L, judge.attemptsRaised());
    }
}

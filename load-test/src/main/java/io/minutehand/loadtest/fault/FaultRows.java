package io.minutehand.loadtest.fault;

import java.util.List;
import java.util.Optional;

/** All rows that can be run, in the order of their numbers. */
final class FaultRows {
    private FaultRows() {}

    /** Makes the rows anew: a row keeps what its script learns. */
    static List<FaultRow> all() {
        return List.of(
                new KilledWhileHeld("1", HoldPoint.POPPED),
                new KilledWhileHeld("2", HoldPoint.HANDLER),
                new KilledWhileHeld("3", HoldPoint.ACK),
                new LostReplies("4", false),
                new KilledInALoop(),
                new ProducerKilled(),
                new Terminated(),
                new PausedNode(),
                new BriefPauses(),
                new RedisKilled(),
                new EmptyRedis(),
                new PlannedFailOver(),
                new CutOff(),
                new LostReplies("18", true),
                new SlowRedis(),
                new WorkerClocks(),
                new RedisClockStepped(),
                new SlowHandlers(),
                new Poison(),
                new ScriptsFlushed(),
                new MemoryFull(),
                new SlotMoves(),
                new JoinsAndLeaves(),
                new TwoOwners(),
                new HugeBucket(),
                new CallersAtOnce(),
                new RefusedByRedis(),
                new RandomMix());
    }

    static Optional<FaultRow> find(String number) {
        return all().stream().filter(row -> row.number().equals(number)).findFirst();
    }
}

package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.redis.RedisServer;

/** Row 26: the slot of one shard moves to another primary and back, key by key, while the shard is used. */
final class SlotMoves implements FaultRow {
    private static final int KEYS_AT_ONCE = 5;
    private static final double STALL_MS = 5_000;

    private long moved;
    private int moves;

    /** The longest time in which a shard took nothing, less the time that the move took, ms. */
    private double longestMs;

    @Override
    public String number() {
        return "26";
    }

    @Override
    public String fault() {
        return "the slot of a shard moves between primaries of a Redis Cluster, to and fro";
    }

    @Override
    public String passLine() {
        return "nothing lost, no script half done; no shard takes nothing for longer than a move + 5 s";
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withCluster().withDefaultTimes();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int count = moves(arena.settings());
        String key = new Keyspace(Arena.NAMESPACE).ledger(new ShardId(RunSettings.TOPIC, 0));
        RedisServer home = arena.cluster().primaryFor(key);
        RedisServer away = arena.cluster().primaries().stream()
                .filter(node -> node != home)
                .findFirst()
                .orElseThrow();
        for (int i = 0; i < count; i++) {
            arena.untilLoad(0.1 + 0.55 * i / count);
            arena.takeStallMs();
            RedisServer to = i % 2 == 0 ? away : home;
            long beganNs = System.nanoTime();
            long keys = arena.cluster().moveSlot(key, to, KEYS_AT_ONCE);
            double tookMs = (System.nanoTime() - beganNs) / 1e6;
            double stallMs = arena.takeStallMs();
            longestMs = Math.max(longestMs, stallMs - tookMs);
            moved += keys;
            moves += keys > 0 ? 1 : 0;
            arena.event(
                    "redis",
                    "slot moved",
                    keys + " keys to " + to.port() + " in " + Math.round(tookMs) + " ms, longest gap "
                            + Math.round(stallMs) + " ms");
        }
    }

    private static int moves(RunSettings settings) {
        return settings.full() ? 10 : 2;
    }

    @Override
    public void judge(Judge judge) {
        int count = moves(judge.arena().settings());
        judge.atLeast("moves", count, moves);
        judge.atLeast("keys moved", 10L * count, moved);
        judge.atMost(
                "longest time in which a shard took nothing, less the move, ms", STALL_MS + judge.slackMs(), longestMs);
        judge.duplicatesAtMost(0);
    }
}

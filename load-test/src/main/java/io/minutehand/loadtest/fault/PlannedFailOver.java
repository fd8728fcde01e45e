package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import java.time.Duration;

/** Row 15: replicas take the place of primaries by agreement, as before maintenance. */
final class PlannedFailOver implements FaultRow {
    private static final double UNAVAILABLE_MS = 5_000;

    private double longestMs;
    private int times;

    @Override
    public String number() {
        return "15";
    }

    @Override
    public String fault() {
        return "primaries of a Redis Cluster replaced as planned (CLUSTER FAILOVER)";
    }

    @Override
    public String passLine() {
        return "nothing lost; duplicates 0; no shard takes nothing for longer than 5 s";
    }

    @Override
    public RunSettings settings(boolean full) {
        // With the default times, as a pause of Redis must not look like the death of a node.
        return RunSettings.of(full).withCluster().withDefaultTimes().withSchedule(Duration.ofSeconds(full ? 70 : 14));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int count = arena.settings().full() ? 6 : 2;
        for (int i = 0; i < count; i++) {
            arena.untilLoad(0.7 * (i + 0.5) / count);
            arena.takeStallMs();
            ShardId shard = new ShardId(
                    RunSettings.TOPIC, arena.random().nextInt(arena.settings().shards()));
            String key = new Keyspace(Arena.NAMESPACE).ledger(shard);
            int before = arena.cluster().primaryFor(key).port();
            arena.cluster().failOver(key);
            int after = arena.cluster().primaryFor(key).port();
            double stallMs = arena.takeStallMs();
            longestMs = Math.max(longestMs, stallMs);
            times += before == after ? 0 : 1;
            arena.event(
                    "redis", "failed over", before + " -> " + after + ", longest gap " + Math.round(stallMs) + " ms");
            arena.cluster().awaitComplete();
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("fail-overs", judge.arena().settings().full() ? 6 : 2, times);
        judge.atMost("longest time in which a shard took nothing, ms", UNAVAILABLE_MS + judge.slackMs(), longestMs);
        judge.duplicatesAtMost(0);
    }
}

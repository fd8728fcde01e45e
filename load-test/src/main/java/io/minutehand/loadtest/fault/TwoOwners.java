package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.report.RunFacts.Bucket;
import io.minutehand.redis.RedisCommands;
import java.time.Duration;

/**
 * Row 28: two nodes believe that they own a bucket. Once since the lease's key is deleted by hand under its owner's feet,
 * and once since the owner does not run until others have taken its buckets.
 */
final class TwoOwners implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private long deleted;
    private long popsOfTheOldId;

    @Override
    public String number() {
        return "28";
    }

    @Override
    public String fault() {
        return "two nodes believe they own a bucket (lease deleted; owner stopped until others took over)";
    }

    @Override
    public String passLine() {
        return "nothing lost; pops of the old owner after the new one's first = 0; FENCED or lease lost >= 1; duplicates"
                + " <= jobs in flight on the stopped node";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withWork(Duration.ofMillis(60));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int times = arena.settings().full() ? 10 : 2;
        for (int i = 0; i < times; i++) {
            arena.untilLoadBetween(0.1 + 0.3 * i / times, 0.1 + 0.3 * (i + 1) / times);
            deleteLeases(arena);
        }
        arena.untilLoadBetween(0.42, 0.45);
        WorkerProcess victim = arena.anyWorker();
        String oldId = String.valueOf(victim.nodeId());
        RedisProbe.Holdings holdings = arena.haltAtWork(victim, LIMIT);
        // By then others may take its buckets at once; before, it could claim them again under the same id.
        arena.awaitStruckOff(oldId);
        try (RedisCommands redis = arena.commands()) {
            arena.await(
                    "the leases of " + victim.name() + " to be gone",
                    LIMIT,
                    () -> holdings.held().stream().noneMatch(bucket -> isHeldBy(redis, bucket, oldId)));
        }
        long before = PopWatch.popsOf(arena, oldId);
        arena.resume(victim);
        arena.untilLoad(1);
        popsOfTheOldId = PopWatch.popsOf(arena, oldId) - before;
    }

    /** Deletes all leases of one node, while it works. */
    private void deleteLeases(Arena arena) {
        WorkerProcess owner = arena.anyWorker();
        try (RedisProbe probe = arena.probe();
                RedisCommands redis = arena.commands()) {
            RedisProbe.Holdings holdings = probe.holdings(String.valueOf(owner.nodeId()));
            for (Bucket bucket : holdings.held()) {
                deleted += redis.number("DEL", leaseOf(bucket));
            }
            arena.event(owner.name(), "leases deleted", holdings.held().size() + " leases");
        }
    }

    private static boolean isHeldBy(RedisCommands redis, Bucket bucket, String nodeId) {
        return redis.texts("HKEYS", leaseOf(bucket)).stream().anyMatch(holder -> holder.endsWith(":" + nodeId));
    }

    private static String leaseOf(Bucket bucket) {
        return new Keyspace(Arena.NAMESPACE)
                .lease(new BucketId(new ShardId(bucket.topic(), bucket.shard()), bucket.minute()));
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("leases deleted by hand", 1, deleted);
        judge.equal("pops of the stopped owner after others took over", 0L, popsOfTheOldId);
        judge.atLeast("FENCED and leases lost", 1, judge.counted("fenced") + judge.counted("lease_lost"));
        judge.duplicatesOfExposedOnly();
        judge.equal("attempts raised", 0L, judge.attemptsRaised());
    }
}

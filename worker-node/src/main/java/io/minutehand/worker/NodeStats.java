package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.telemetry.Telemetry;
import java.util.List;
import java.util.Map;

/**
 * What a node does at a moment, and has done since it started.
 *
 * @param nodeId its id now
 * @param name its display name
 * @param ready whether it takes jobs: a member, not stopping, not all slots stuck
 * @param ownedShards shards that the assignment gives it
 * @param heldBuckets leases that it holds
 * @param slots handlers at once, at most
 * @param inFlight jobs that it has and has not completed
 * @param running handlers that run
 * @param stuck handlers that ignored their time-out
 * @param counters events since the start, over all topics
 */
public record NodeStats(
        String nodeId,
        String name,
        boolean ready,
        int ownedShards,
        List<BucketId> heldBuckets,
        int slots,
        int inFlight,
        int running,
        int stuck,
        Map<Telemetry.Counter, Long> counters) {
    /** Events of a kind since the start. */
    public long counted(Telemetry.Counter counter) {
        return counters.getOrDefault(counter, 0L);
    }
}

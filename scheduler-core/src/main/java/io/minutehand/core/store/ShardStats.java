package io.minutehand.core.store;

import java.util.HashMap;
import java.util.Map;

/**
 * Counters and sizes of a shard.
 *
 * @param buckets non-empty buckets
 * @param inFlight receipts
 * @param dead dead letters
 * @param counters by name: accepted, pending, done, cancelled, purged, retried, nacked, recovered, buried, redriven, overflow, orphans, epoch
 */
public record ShardStats(long buckets, long inFlight, long dead, Map<String, Long> counters) {
    static ShardStats of(Reply reply) {
        Map<String, Long> counters = new HashMap<>();
        for (int i = 4; i < reply.size(); i += 2) {
            counters.put(reply.text(i), reply.number(i + 1));
        }
        return new ShardStats(reply.number(1), reply.number(2), reply.number(3), Map.copyOf(counters));
    }

    /** A counter, 0 when it was never touched. */
    public long counter(String name) {
        return counters.getOrDefault(name, 0L);
    }

    /** Accepted jobs that are not accounted for; 0 unless something was lost or changed by hand. */
    public long difference() {
        return counter("accepted")
                - counter("pending")
                - inFlight
                - dead
                - counter("done")
                - counter("cancelled")
                - counter("purged")
                - counter("orphans");
    }
}

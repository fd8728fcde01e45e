package io.minutehand.loadtest.demo;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which shards the rule of assignment gives to a node: written down a second time, so that what a node drained can be
 * compared with what it should have drained and not with what it thought.
 *
 * <p>The rule: rendezvous hashing (Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998) with bounded
 * load: a shard belongs to the first node in its ranking that has not yet 1.1 times the mean of the topic's shards, or
 * the mean rounded up where that is more.
 */
final class Owners {
    private static final int LOAD_BOUND_TENTHS = 11;

    private Owners() {}

    /**
     * Returns the shards of a node, by topic.
     *
     * @param topics topics that all nodes handle
     * @param shards shards of each topic
     * @param nodeIds ids of all nodes that live
     * @param nodeId one of them
     */
    static Map<String, Set<Integer>> shardsOf(
            String nodeId, List<String> topics, int shards, Collection<String> nodeIds) {
        Map<String, Set<Integer>> owned = new HashMap<>();
        for (String topic : topics) {
            owned.put(topic, shardsOf(nodeId, topic, shards, nodeIds));
        }
        return owned;
    }

    private static Set<Integer> shardsOf(String nodeId, String topic, int shards, Collection<String> nodeIds) {
        int count = nodeIds.size();
        int most = Math.max((shards + count - 1) / count, LOAD_BOUND_TENTHS * shards / (10 * count));
        Map<String, Integer> loads = new HashMap<>();
        Set<Integer> owned = new TreeSet<>();
        for (int shard = 0; shard < shards; shard++) {
            long shardHash = ShardMap.hash(new ShardId(topic, shard).toString());
            List<String> ranked = new ArrayList<>(nodeIds);
            ranked.sort(Comparator.comparingLong((String node) -> ShardMap.mix(shardHash ^ ShardMap.hash(node)))
                    .reversed()
                    .thenComparing(Comparator.naturalOrder()));
            String owner = ranked.stream()
                    .filter(node -> loads.getOrDefault(node, 0) < most)
                    .findFirst()
                    .orElse(ranked.get(0));
            loads.merge(owner, 1, Integer::sum);
            if (owner.equals(nodeId)) {
                owned.add(shard);
            }
        }
        return owned;
    }
}

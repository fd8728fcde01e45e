package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Which node should drain a shard: a pure function of who is alive, so that all nodes agree without talking.
 *
 * <p>Rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6(1), 1998):
 * each shard ranks the nodes by a hash of both and belongs to the first, so a node that joins or leaves moves little more than its own share.
 * With bounded loads (Mirrokni, Thorup, Zadimoghaddam, "Consistent hashing with bounded loads", SODA 2018): no node has more than 1.1 times the
 * mean of a topic's shards, or the mean rounded up where that is more.
 */
final class Assignment {
    /** The bound on a node's load, in tenths of the mean: whole numbers, since 1.1 has no exact form in binary. */
    private static final int BOUND_TENTHS = 11;

    private static final Comparator<Candidate> HEAVIEST_FIRST =
            Comparator.comparingLong(Candidate::weight).reversed().thenComparing(Candidate::node);

    private Assignment() {}

    /**
     * The nodes of each shard of a topic, the owner first, then in the order in which they step in for it.
     *
     * @param nodes ids of the nodes that take the topic's jobs; without one each list is empty
     */
    static Map<ShardId, List<String>> ranks(String topic, int shards, Collection<String> nodes) {
        int count = Math.max(1, nodes.size());
        int bound = Math.max((shards + count - 1) / count, BOUND_TENTHS * shards / (10 * count));
        Map<String, Integer> loads = new HashMap<>();
        Map<ShardId, List<String>> ranks = new HashMap<>();
        // Each hash once, not at each comparison: a node's thread has no time for millions of them when others join.
        List<Candidate> candidates = nodes.stream()
                .map(node -> new Candidate(node, ShardMap.hash(node), 0))
                .toList();
        for (int i = 0; i < shards; i++) {
            ShardId shard = new ShardId(topic, i);
            long shardHash = ShardMap.hash(shard.toString());
            List<String> ranked = candidates.stream()
                    .map(candidate -> candidate.weighed(shardHash))
                    .sorted(HEAVIEST_FIRST)
                    .map(Candidate::node)
                    .collect(Collectors.toCollection(ArrayList::new));
            for (int rank = 0; rank < ranked.size(); rank++) {
                String node = ranked.get(rank);
                if (loads.getOrDefault(node, 0) < bound) {
                    loads.merge(node, 1, Integer::sum);
                    ranked.remove(rank);
                    ranked.add(0, node);
                    break;
                }
            }
            ranks.put(shard, ranked);
        }
        return ranks;
    }

    /** A node with its hash, and its weight for a shard. */
    private record Candidate(String node, long hash, long weight) {
        Candidate weighed(long shardHash) {
            return new Candidate(node, hash, ShardMap.mix(shardHash ^ hash));
        }
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AssignmentTest {
    private static final int ROUNDS = 200;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);

    private List<String> nodes(int count) {
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            nodes.add(Long.toString(random.nextLong(1L << 40, 1L << 53)));
        }
        return nodes;
    }

    private static Map<String, Integer> loads(Map<ShardId, List<String>> ranks) {
        Map<String, Integer> loads = new HashMap<>();
        ranks.values().forEach(ranked -> loads.merge(ranked.get(0), 1, Integer::sum));
        return loads;
    }

    private static long moved(Map<ShardId, List<String>> before, Map<ShardId, List<String>> after) {
        return before.keySet().stream()
                .filter(shard ->
                        !before.get(shard).get(0).equals(after.get(shard).get(0)))
                .count();
    }

    @ParameterizedTest
    @CsvSource({"8,1", "8,2", "8,3", "8,4", "8,7", "8,20", "20,2", "30,3", "64,5", "100,10", "1024,9", "1,5"})
    void shouldGiveEachShardAnOwnerAndNobodyMoreThanTheBound(int shards, int nodeCount) {
        // 1.1 x mean in whole numbers, and never less than the mean rounded up: 8 shards on 4 nodes are 2 each.
        int bound = Math.max((shards + nodeCount - 1) / nodeCount, 11 * shards / (10 * nodeCount));
        for (int i = 0; i < ROUNDS / 4; i++) {
            List<String> nodes = nodes(nodeCount);
            Map<ShardId, List<String>> ranks = Assignment.ranks("topic-" + i, shards, nodes);
            assertThat(ranks).as("seed %d", seed).hasSize(shards);
            ranks.forEach((shard, ranked) -> assertThat(ranked)
                    .as("seed %d: %s ranks each node once", seed, shard)
                    .containsExactlyInAnyOrderElementsOf(nodes));
            assertThat(loads(ranks).values()).as("seed %d", seed).allMatch(load -> load <= bound);
        }
    }

    @Test
    void shouldNotDependOnTheOrderInWhichNodesAreNamed() {
        for (int i = 0; i < ROUNDS; i++) {
            List<String> nodes = nodes(1 + random.nextInt(12));
            Map<ShardId, List<String>> ranks = Assignment.ranks("orders", 16, nodes);
            Collections.shuffle(nodes, random);
            assertThat(Assignment.ranks("orders", 16, nodes))
                    .as("seed %d", seed)
                    .isEqualTo(ranks);
            assertThat(Assignment.ranks("orders", 16, new TreeSet<>(nodes)))
                    .as("seed %d", seed)
                    .isEqualTo(ranks);
        }
    }

    @Test
    void shouldMoveOnlyAShareWhenANodeJoinsOrLeaves() {
        int shards = 64;
        long joined = 0;
        long left = 0;
        for (int i = 0; i < ROUNDS; i++) {
            List<String> four = nodes(4);
            Map<ShardId, List<String>> before = Assignment.ranks("orders", shards, four);
            List<String> five = new ArrayList<>(four);
            five.add(nodes(1).get(0));
            joined += moved(before, Assignment.ranks("orders", shards, five));
            List<String> three = four.subList(0, 3);
            Map<ShardId, List<String>> after = Assignment.ranks("orders", shards, three);
            left += moved(before, after);
            assertThat(loads(after).keySet()).as("seed %d", seed).doesNotContain(four.get(3));
        }
        double joinedShare = (double) joined / ROUNDS / shards;
        double leftShare = (double) left / ROUNDS / shards;
        System.out.printf("assignment: seed=%d moved by a join %.3f, by a leave %.3f%n", seed, joinedShare, leftShare);
        // A fifth and a quarter must move; the bound on loads moves some more.
        assertThat(joinedShare)
                .as("seed %d: share moved when a fifth node joins", seed)
                .isBetween(0.1, 0.4);
        assertThat(leftShare)
                .as("seed %d: share moved when one of four leaves", seed)
                .isBetween(0.2, 0.5);
    }

    @Test
    void shouldSpreadTheTopicsOfOneShardOverTheNodes() {
        List<String> nodes = nodes(3);
        Map<String, Integer> loads = new HashMap<>();
        for (int i = 0; i < 300; i++) {
            loads(Assignment.ranks("topic-" + i, 1, nodes))
                    .forEach((node, load) -> loads.merge(node, load, Integer::sum));
        }
        assertThat(loads.values()).as("seed %d: topics a node", seed).allMatch(load -> load > 50);
    }

    @Test
    void shouldLeaveShardsWithoutAnOwnerWhenNobodyTakesTheTopic() {
        Map<ShardId, List<String>> ranks = Assignment.ranks("orders", 4, Set.of());
        assertThat(ranks).hasSize(4);
        assertThat(ranks.values()).allMatch(List::isEmpty);
    }
}

package io.minutehand.loadtest.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OwnersTest {
    private static final List<String> TOPICS = List.of("orders", "reports");

    @Test
    void shouldGiveEachShardToOneNode() {
        Map<String, Integer> owners = owners(List.of("1", "2", "3"), 16);

        assertThat(owners.values()).hasSize(32).allMatch(count -> count == 1);
    }

    @Test
    void shouldGiveNoNodeMoreThanTheBound() {
        List<String> nodes = List.of("1", "2", "3", "4");

        for (String node : nodes) {
            // 1.1 x 16 / 4, rounded up.
            assertThat(Owners.shardsOf(node, TOPICS, 16, nodes).values())
                    .allSatisfy(shards -> assertThat(shards).hasSizeLessThanOrEqualTo(5));
        }
    }

    @Test
    void shouldMoveOnlyAShareWhenANodeJoins() {
        List<String> before =
                IntStream.rangeClosed(1, 9).mapToObj(Integer::toString).toList();
        List<String> after = new ArrayList<>(before);
        after.add("10");
        int moved = 0;
        for (String node : before) {
            Set<Integer> had = Owners.shardsOf(node, TOPICS, 200, before).get("orders");
            Set<Integer> has = Owners.shardsOf(node, TOPICS, 200, after).get("orders");
            moved += (int) had.stream().filter(shard -> !has.contains(shard)).count();
        }

        // A tenth, and what the bound pushes on.
        assertThat(moved).isBetween(10, 60);
    }

    private static Map<String, Integer> owners(List<String> nodes, int shards) {
        Map<String, Integer> owners = new HashMap<>();
        for (String node : nodes) {
            Owners.shardsOf(node, TOPICS, shards, nodes)
                    .forEach((topic, owned) ->
                            owned.forEach(shard -> owners.merge(topic + ":" + shard, 1, Integer::sum)));
        }
        return owners;
    }
}

package io.minutehand.worker;

import java.util.Map;
import java.util.Set;

/**
 * What a node says of itself to the others.
 *
 * @param id its id
 * @param name its display name
 * @param topics what it handles
 * @param shed what it handles but cannot take now, for lack of free slots
 * @param draining whether it is stopping
 */
record Peer(String id, String name, Set<String> topics, Set<String> shed, boolean draining) {
    Map<String, String> describe() {
        return Map.of(
                "name", name,
                "topics", String.join(",", topics),
                "shed", String.join(",", shed),
                "draining", Boolean.toString(draining));
    }

    static Peer of(String id, Map<String, String> description) {
        return new Peer(
                id,
                description.getOrDefault("name", ""),
                names(description.getOrDefault("topics", "")),
                names(description.getOrDefault("shed", "")),
                Boolean.parseBoolean(description.getOrDefault("draining", "false")));
    }

    private static Set<String> names(String joined) {
        return joined.isEmpty() ? Set.of() : Set.of(joined.split(",", -1));
    }

    /** Whether it takes jobs of a topic now. */
    boolean takes(String topic) {
        return handles(topic) && !shed.contains(topic);
    }

    /** Whether it has a handler for a topic and is not stopping. */
    boolean handles(String topic) {
        return topics.contains(topic) && !draining;
    }
}

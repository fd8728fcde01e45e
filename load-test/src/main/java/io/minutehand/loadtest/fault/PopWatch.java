package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.redis.RedisCommands;
import java.util.List;

/** How often a node has got something out of the topic, as Redis keeps it for the replay of lost replies. */
final class PopWatch {
    private PopWatch() {}

    /**
     * Returns the sum over all shards of the node's last answered call numbers. It grows with every pop or recovery that
     * was not refused, and falls when Redis forgets them, a minute after the last.
     */
    static long popsOf(Arena arena, String nodeId) {
        Keyspace keys = new Keyspace(Arena.NAMESPACE);
        long sum = 0;
        try (RedisCommands redis = arena.commands()) {
            for (int shard = 0; shard < arena.settings().shards(); shard++) {
                List<String> fields = redis.texts("HGETALL", keys.pops(new ShardId(RunSettings.TOPIC, shard), nodeId));
                int at = fields.indexOf("seq");
                sum += at < 0 ? 0 : Long.parseLong(fields.get(at + 1));
            }
        }
        return sum;
    }
}

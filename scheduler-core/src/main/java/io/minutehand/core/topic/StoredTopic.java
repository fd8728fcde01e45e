package io.minutehand.core.topic;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The settings of a topic as Redis holds them, and where its jobs may live.
 *
 * <p>A job never moves to another shard. When the shard count changes, new ids go to the shard that the new count gives them, and the old ones
 * stay where they are until they have ended: so an id has a home for its like today, and perhaps earlier ones. Each change raises the epoch, and a
 * shard that was told the new epoch takes no new id by an older one. So an id that is absent from an earlier home under the present epoch stays
 * absent there, and who visits the earlier homes first and today's last never stores an id twice.
 *
 * @param topic the topic
 * @param epoch from 1; one more with each change of the shard count; every schedule call carries it
 * @param settings the settings
 * @param earlier shard counts of the past under which jobs may still be stored; empty but for some time after a change
 * @param next the shard count that a change will bring soon, so that nodes already own its shards, or 0
 * @param pausedUntilMs until when no node takes the topic's jobs, epoch ms by the clock of each shard's server; 0 = it is not paused
 */
public record StoredTopic(
        String topic, long epoch, TopicSettings settings, List<Integer> earlier, int next, long pausedUntilMs) {
    /** A pause without an end of its own. */
    public static final long UNTIL_RESUMED = Long.MAX_VALUE;

    /** Makes the list the record's own. */
    public StoredTopic {
        earlier = List.copyOf(earlier);
    }

    /** A topic whose shard count has not changed. */
    public StoredTopic(String topic, long epoch, TopicSettings settings) {
        this(topic, epoch, settings, List.of(), 0, 0);
    }

    /** The number of shards that hold or may soon hold jobs; they are numbered from 0. */
    public int allShards() {
        return Stream.concat(earlier.stream(), Stream.of(settings.shards(), next))
                .mapToInt(Integer::intValue)
                .max()
                .orElseThrow();
    }

    /** All those shards, in order. */
    public List<ShardId> shards() {
        return IntStream.range(0, allShards())
                .mapToObj(shard -> new ShardId(topic, shard))
                .toList();
    }

    /** Where a new job with this id is stored. */
    public ShardId home(String id) {
        return new ShardId(topic, ShardMap.shardOf(id, settings.shards()));
    }

    /** Where a job with this id may live: its earlier homes, then today's. */
    public List<ShardId> homes(String id) {
        ShardId home = home(id);
        if (earlier.isEmpty()) {
            return List.of(home);
        }
        List<ShardId> homes = new ArrayList<>();
        for (int shards : earlier) {
            ShardId before = new ShardId(topic, ShardMap.shardOf(id, shards));
            if (!before.equals(home) && !homes.contains(before)) {
                homes.add(before);
            }
        }
        homes.add(home);
        return homes;
    }

    /** The same with other settings; the shard count stays. */
    public StoredTopic with(TopicSettings changed) {
        return new StoredTopic(topic, epoch, changed.withShards(settings.shards()), earlier, next, pausedUntilMs);
    }

    /** The first step of a change of the shard count: nodes begin to own the shards to come. */
    public StoredTopic announcing(int shards) {
        return new StoredTopic(topic, epoch, settings, earlier, shards, pausedUntilMs);
    }

    /** The second step: new ids go by the new count. */
    public StoredTopic resharded(int shards) {
        List<Integer> before = Stream.concat(earlier.stream(), Stream.of(settings.shards()))
                .distinct()
                .filter(count -> count != shards)
                .toList();
        return new StoredTopic(topic, epoch + 1, settings.withShards(shards), before, 0, pausedUntilMs);
    }

    /**
     * The same behind a change that was lost, whose epoch some shards know: they take new ids by a later one only. Where the lost change had been
     * announced, jobs may have been stored by its count.
     *
     * @param lostEpoch the latest epoch that a shard knows, later than this one
     */
    public StoredTopic ahead(long lostEpoch) {
        List<Integer> before = Stream.concat(earlier.stream(), Stream.of(next))
                .distinct()
                .filter(count -> count != 0 && count != settings.shards())
                .toList();
        return new StoredTopic(topic, lostEpoch + 1, settings, before, 0, pausedUntilMs);
    }

    /** The last step: no earlier home holds a job or a tombstone any more. */
    public StoredTopic settled() {
        return new StoredTopic(topic, epoch, settings, List.of(), next, pausedUntilMs);
    }

    /**
     * The same, paused: jobs are stored, moved and cancelled as ever, but no node takes any.
     *
     * @param untilMs epoch ms, or {@link #UNTIL_RESUMED}; 0 = paused no more
     */
    public StoredTopic pausedUntil(long untilMs) {
        return new StoredTopic(topic, epoch, settings, earlier, next, untilMs);
    }

    /** Whether no node takes its jobs at a time, epoch ms. */
    public boolean paused(long nowMs) {
        return nowMs < pausedUntilMs;
    }
}

package io.minutehand.router;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.topic.StoredTopic;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Where the calls of a topic go: a lane per shard, once its settings are known. All but the lanes belongs to the loop. */
final class Route {
    private final String topic;
    private final Callbacks callbacks;
    /** Calls that came before the settings. */
    private final ArrayDeque<Arrival> waiting = new ArrayDeque<>();

    private boolean asking;
    private @Nullable StoredTopic settings;
    /** Null until the settings are known, and so the clocks of their servers. */
    private volatile @Nullable List<Lane> lanes;

    Route(String topic, Callbacks callbacks) {
        this.topic = topic;
        this.callbacks = callbacks;
    }

    String topic() {
        return topic;
    }

    Callbacks callbacks() {
        return callbacks;
    }

    /** The lane of an id, or null while the settings are not known. */
    @Nullable
    Lane laneOf(String id) {
        List<Lane> known = lanes;
        return known == null ? null : known.get(ShardMap.shardOf(id, known.size()));
    }

    List<Lane> lanes() {
        List<Lane> known = lanes;
        return known == null ? List.of() : known;
    }

    ArrayDeque<Arrival> waiting() {
        return waiting;
    }

    boolean asking() {
        return asking;
    }

    void asking(boolean now) {
        asking = now;
    }

    /** The settings as they were last seen. */
    StoredTopic settings() {
        return Objects.requireNonNull(settings);
    }

    boolean known() {
        return settings != null;
    }

    /** Takes settings over. Lanes stay as they are, the writer finds the shard of each job anew. */
    void learn(StoredTopic stored) {
        settings = stored;
        if (lanes == null) {
            lanes = IntStream.range(0, stored.settings().shards())
                    .mapToObj(shard -> new Lane(new ShardId(topic, shard), System.nanoTime()))
                    .toList();
        }
    }
}

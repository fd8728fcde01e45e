package io.minutehand.worker;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The handler slots of a node. A pop asks for as many jobs as it could reserve, so nothing is taken that cannot run. Shards that found none
 * wait in line and are told when one is free. Only the node's thread touches this.
 */
final class Slots {
    private final int total;
    private final Consumer<Shard> wake;
    private final Set<Shard> starving = new LinkedHashSet<>();
    private int used;

    Slots(int total, Consumer<Shard> wake) {
        this.total = total;
        this.wake = wake;
    }

    int total() {
        return total;
    }

    int used() {
        return used;
    }

    /** Slots that a topic could have now. */
    int free(TopicWork topic) {
        int ofNode = total - used;
        int concurrency = topic.options().concurrency();
        return concurrency == 0 ? ofNode : Math.min(ofNode, concurrency - topic.used());
    }

    /**
     * Reserves up to {@code limit} slots, and at most half of the free ones (but one), since other shards ask in the same moment; with none
     * free the shard waits in line.
     */
    int reserve(Shard shard, int limit) {
        TopicWork topic = shard.topic();
        int free = free(topic);
        int granted = Math.min(limit, (free + 1) / 2);
        if (granted <= 0) {
            starving.add(shard);
            return 0;
        }
        used += granted;
        topic.use(granted);
        return granted;
    }

    void release(TopicWork topic, int slots) {
        if (slots == 0) {
            return;
        }
        used -= slots;
        topic.use(-slots);
        while (!starving.isEmpty()) {
            Shard next = null;
            for (Shard waiting : starving) {
                if (free(waiting.topic()) > 0) {
                    next = waiting;
                    break;
                }
            }
            if (next == null) {
                return;
            }
            starving.remove(next);
            wake.accept(next);
        }
    }
}

package io.minutehand.worker;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The handler slots of a node. A pop asks for as many jobs as it could reserve, so nothing is taken that cannot run. Who waits for a slot is told
 * when one is free: first the jobs that wait inside the node, then the shards that found none, in line. Only the node's thread touches this.
 */
final class Slots {
    private final int total;
    private final Runnable insiders;
    private final Consumer<Shard> wake;
    private final Set<Shard> starving = new LinkedHashSet<>();
    private int used;

    /**
     * All free.
     *
     * @param insiders called when a slot is free: may take some
     * @param wake called for a shard that waits and could have a slot now
     */
    Slots(int total, Runnable insiders, Consumer<Shard> wake) {
        this.total = total;
        this.insiders = insiders;
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
        return Math.min(total - used, topic.capacity(total) - topic.used());
    }

    /**
     * Reserves up to {@code limit} slots, and at most half of the free ones (but one), since other shards ask in the same moment; with none
     * free the shard waits in line.
     */
    int reserve(Shard shard, int limit) {
        TopicWork topic = shard.topic();
        int granted = Math.min(limit, (free(topic) + 1) / 2);
        if (granted <= 0) {
            starving.add(shard);
            return 0;
        }
        starving.remove(shard);
        use(topic, granted);
        return granted;
    }

    /** Takes one slot if there is one. */
    boolean take(TopicWork topic) {
        boolean free = free(topic) > 0;
        if (free) {
            use(topic, 1);
        }
        return free;
    }

    void release(TopicWork topic, int slots) {
        if (slots == 0) {
            return;
        }
        use(topic, -slots);
        insiders.run();
        for (Shard next = firstServable(); next != null; next = firstServable()) {
            starving.remove(next);
            wake.accept(next);
        }
    }

    private void use(TopicWork topic, int slots) {
        used += slots;
        topic.use(slots);
    }

    private @Nullable Shard firstServable() {
        for (Shard waiting : starving) {
            if (free(waiting.topic()) > 0) {
                return waiting;
            }
        }
        return null;
    }
}

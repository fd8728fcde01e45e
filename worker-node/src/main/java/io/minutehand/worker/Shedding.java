package io.minutehand.worker;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives topics up whose due jobs find no free slot here while other nodes have some. A node that is full for a while says so, and the assignment
 * leaves it out; if others still have slots after everybody could have said the same, it gives its leases up, too. When all
 * are full nobody is left out, and each keeps its share: passing work around would only leave slots empty. Only the node's
 * thread touches this.
 */
final class Shedding {
    private static final Logger log = LoggerFactory.getLogger(Shedding.class);

    /** How long due jobs find no slot before the node says so. */
    private static final long STARVED_NS = TimeUnit.SECONDS.toNanos(2);

    private static final long SWEEP_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final NodeEngine engine;
    private final WorkerSettings settings;
    private final DueTimer.Timer timer;

    Shedding(NodeEngine engine, WorkerSettings settings, DueTimer timer) {
        this.engine = engine;
        this.settings = settings;
        this.timer = timer.timer(() -> runOnce(System.nanoTime()));
    }

    void start(long nowNs) {
        timer.setAt(nowNs + SWEEP_NS);
    }

    void stop() {
        timer.cancel();
    }

    /** One pass over the topics; returns how many of them are given up or taken up again. */
    int runOnce(long nowNs) {
        timer.setAt(nowNs + SWEEP_NS);
        int changed = 0;
        for (TopicWork topic : engine.topics()) {
            int free = engine.slots().free(topic);
            int capacity = topic.capacity(engine.slots().total());
            boolean starved = topic.starvedSinceNs() != 0 && nowNs - topic.starvedSinceNs() > STARVED_NS && free <= 0;
            if (!topic.shed() && starved && othersHandle(topic)) {
                shed(topic, true, nowNs);
                changed++;
            } else if (topic.shed() && free >= Math.max(1, capacity / 4)) {
                shed(topic, false, nowNs);
                changed++;
            } else if (topic.shed()
                    && nowNs - topic.shedSinceNs() > 3 * settings.beat().toNanos()
                    && othersTake(topic)) {
                giveUp(topic);
            }
        }
        return changed;
    }

    private boolean othersHandle(TopicWork topic) {
        return engine.membership().peers().stream().anyMatch(peer -> isOther(peer) && peer.handles(topic.topic()));
    }

    private boolean othersTake(TopicWork topic) {
        return engine.membership().peers().stream().anyMatch(peer -> isOther(peer) && peer.takes(topic.topic()));
    }

    private boolean isOther(Peer peer) {
        return !peer.id().equals(engine.membership().node().id());
    }

    private void shed(TopicWork topic, boolean on, long nowNs) {
        log.warn(
                "node: {} topic={} free_slots={} slots={} stuck={}",
                on ? "no free slot, leaving new buckets to others" : "has free slots again",
                topic.topic(),
                engine.slots().free(topic),
                engine.slots().total(),
                engine.handlers().stuck());
        topic.shed(on, nowNs);
        engine.ownership().assign();
        engine.membership().announce();
    }

    private void giveUp(TopicWork topic) {
        for (Shard shard : engine.shards()) {
            if (shard.topic() == topic && shard.rank != 0 && !shard.held.isEmpty()) {
                log.info("node: no free slot, giving up {} buckets={}", shard, shard.held.size());
                engine.claims().leave(shard, List.copyOf(shard.held.keySet()), settings.beat());
            }
        }
    }
}

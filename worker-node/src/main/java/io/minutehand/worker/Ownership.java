package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.LeaseStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which shards are this node's: what the assignment makes of the nodes that live and take a topic, and what follows when that changes. Only the node's
 * thread touches this.
 */
final class Ownership {
    private static final Logger log = LoggerFactory.getLogger(Ownership.class);

    private final LeaseStore leases;
    private final NodeEngine engine;
    private final DueTimer timer;
    private int owned;

    Ownership(LeaseStore leases, NodeEngine engine, DueTimer timer) {
        this.leases = leases;
        this.engine = engine;
        this.timer = timer;
    }

    /** Shards that the assignment gives this node. */
    int owned() {
        return owned;
    }

    /** Computes the nodes' ranks for each shard and acts on what changed for this one. */
    void assign() {
        String self = engine.membership().node().id();
        Collection<Peer> peers = engine.membership().peers();
        int nowOwned = 0;
        for (TopicWork topic : engine.topics()) {
            if (!topic.known()) {
                continue;
            }
            Map<ShardId, List<String>> ranks =
                    Assignment.ranks(topic.topic(), topic.allShards(), takers(topic.topic(), peers));
            for (Shard shard : engine.shards()) {
                if (shard.topic() == topic && !ranks.containsKey(shard.id)) {
                    // Given up: the topic has fewer shards now.
                    rank(shard, -1, "");
                }
            }
            for (Map.Entry<ShardId, List<String>> entry : ranks.entrySet()) {
                Shard shard = engine.shard(entry.getKey());
                List<String> ranked = entry.getValue();
                if (shard != null) {
                    rank(shard, ranked.indexOf(self), ranked.isEmpty() ? "" : ranked.get(0));
                    nowOwned += shard.rank == 0 ? 1 : 0;
                }
            }
        }
        if (nowOwned != owned) {
            log.info(
                    "node: assignment changed node={} name={} nodes={} shards={} of {}",
                    self,
                    engine.name(),
                    peers.size(),
                    nowOwned,
                    engine.shards().size());
        }
        owned = nowOwned;
    }

    /** Who shares a topic: the nodes that have free slots, or everybody who handles it when none has. */
    private static Set<String> takers(String topic, Collection<Peer> peers) {
        Set<String> takers = ids(topic, peers, true);
        return takers.isEmpty() ? ids(topic, peers, false) : takers;
    }

    private static Set<String> ids(String topic, Collection<Peer> peers, boolean withSlots) {
        return peers.stream()
                .filter(peer -> withSlots ? peer.takes(topic) : peer.handles(topic))
                .map(Peer::id)
                .collect(Collectors.toCollection(HashSet::new));
    }

    private void rank(Shard shard, int rank, String owner) {
        int before = shard.rank;
        boolean changed = before != rank || !owner.equals(shard.owner);
        shard.rank = rank;
        shard.owner = owner;
        if (changed) {
            shard.suspected = List.of();
            listen(shard);
            engine.looks().look(shard);
        }
        if (rank == 0 && before != 0) {
            engine.recovery().owned(shard);
        }
    }

    /** Listens to the hints of a shard while this node owns it or holds leases of it; tries again with each call while that fails. */
    void listen(Shard shard) {
        boolean wanted = !engine.stopping() && (shard.rank == 0 || !shard.held.isEmpty());
        if (wanted && shard.unsubscribe == null && !shard.subscribing) {
            shard.subscribing = true;
            leases.onWake(shard.id, wake -> engine.looks().hinted(shard, wake)).whenComplete((end, failure) -> {
                try {
                    timer.execute(() -> listening(shard, end, failure));
                } catch (RejectedExecutionException closed) {
                    if (end != null) {
                        end.run();
                    }
                }
            });
        } else if (!wanted && shard.unsubscribe != null) {
            shard.unsubscribe.run();
            shard.unsubscribe = null;
        }
    }

    /** Listens to the hints of a shard by another subscription: the one that stands seems to be dead. */
    void listenAnew(Shard shard) {
        shard.listenedNs = System.nanoTime();
        if (shard.unsubscribe != null) {
            shard.unsubscribe.run();
            shard.unsubscribe = null;
        }
        listen(shard);
    }

    private void listening(Shard shard, @Nullable Runnable end, @Nullable Throwable failure) {
        shard.subscribing = false;
        shard.listenedNs = System.nanoTime();
        if (end == null) {
            // Without hints the looks find everything, later; the next look tries again.
            engine.calls().failed(shard.id.topic(), failure);
        } else {
            shard.unsubscribe = end;
            listen(shard);
        }
    }

    /** The node is another now: nothing is its own until it has joined. */
    void forgetAll() {
        owned = 0;
        for (Shard shard : engine.shards()) {
            shard.rank = -1;
            shard.seq = 0;
            shard.verdicts.clear();
        }
    }
}

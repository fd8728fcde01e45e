package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.TopicRegistry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a running node and the events that pass between them: who is alive decides which shards are this node's; looks, hints and timers
 * drive claims and pops. Everything here happens on the node's thread.
 */
final class NodeEngine implements Membership.Listener {
    private static final Logger log = LoggerFactory.getLogger(NodeEngine.class);
    private static final long TOPICS_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long CALL_DEADLINE_NS = TimeUnit.SECONDS.toNanos(5);

    /** How long due jobs may find no slot before the topic is given to others. */
    private static final long STARVED_NS = TimeUnit.SECONDS.toNanos(2);

    private final DueTimer timer;
    private final WorkerSettings settings;
    private final String name;
    private final Map<String, TopicWork> topics = new LinkedHashMap<>();
    private final Map<ShardId, Shard> shards = new LinkedHashMap<>();
    private final StoreConnection connection;
    private final TopicRegistry registry;
    private final LeaseStore leases;
    private final Membership membership;
    private final StoreCalls calls;
    private final Slots slots;
    private final BucketClaims claims;
    private final BucketDrainer drainer;
    private final HandlerPool handlers;
    private final Completions completions;
    private final Recovery recovery;
    private final DueTimer.Timer topicsTimer;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private boolean stopping;
    private volatile boolean closed;
    private int owned;

    NodeEngine(
            StoreConnection connection,
            DueTimer timer,
            WorkerSettings settings,
            String name,
            Collection<TopicWork> work,
            Map<String, io.minutehand.core.topic.TopicSettings> declared,
            Telemetry telemetry,
            ExecutorService executor) {
        this.connection = connection;
        this.timer = timer;
        this.settings = settings;
        this.name = name;
        work.forEach(topic -> topics.put(topic.topic(), topic));
        ClusterStore cluster = connection.cluster(timer);
        JobStore jobs = connection.jobs(timer);
        this.leases = connection.leases(timer);
        this.registry = new TopicRegistry(cluster, declared, true);
        this.calls = new StoreCalls(timer, telemetry);
        this.slots = new Slots(settings.slots(), shard -> drainer().pump(shard));
        this.membership = new Membership(cluster, settings, connection.clientId(), this::self, this, timer);
        this.claims = new BucketClaims(leases, settings, telemetry, this, timer);
        this.drainer = new BucketDrainer(jobs, this, telemetry);
        this.handlers = new HandlerPool(this, telemetry, timer, executor);
        this.completions = new Completions(jobs, this, telemetry, timer, settings.slots());
        this.recovery = new Recovery(jobs, leases, this, telemetry);
        this.topicsTimer = timer.timer(this::refreshTopics);
    }

    void start() {
        long nowNs = System.nanoTime();
        topics.values().forEach(this::learn);
        membership.start(nowNs);
        claims.start(nowNs);
        completions.start(nowNs);
        topicsTimer.setAt(nowNs + TOPICS_NS);
    }

    Membership membership() {
        return membership;
    }

    StoreCalls calls() {
        return calls;
    }

    Slots slots() {
        return slots;
    }

    BucketClaims claims() {
        return claims;
    }

    BucketDrainer drainer() {
        return drainer;
    }

    HandlerPool handlers() {
        return handlers;
    }

    Completions completions() {
        return completions;
    }

    Recovery recovery() {
        return recovery;
    }

    WorkerSettings settings() {
        return settings;
    }

    Collection<Shard> shards() {
        return shards.values();
    }

    /** Shards that the assignment gives this node. */
    int owned() {
        return owned;
    }

    boolean stopping() {
        return stopping;
    }

    boolean closed() {
        return closed;
    }

    private Peer self() {
        NodeId node = membership.node();
        Set<String> handled = new TreeSet<>();
        Set<String> shed = new TreeSet<>();
        for (TopicWork topic : topics.values()) {
            if (topic.known()) {
                handled.add(topic.topic());
            }
            if (topic.shed()) {
                shed.add(topic.topic());
            }
        }
        return new Peer(node.id(), name, handled, shed, stopping);
    }

    private void learn(TopicWork topic) {
        registry.ensure(topic.topic(), System.nanoTime() + CALL_DEADLINE_NS).whenComplete((stored, failure) -> {
            if (failure != null) {
                log.warn(
                        "topic: settings cannot be read yet topic={} cause=\"{}\"",
                        topic.topic(),
                        failure.getMessage());
                return;
            }
            timer.execute(() -> learned(topic, stored));
        });
    }

    private void learned(TopicWork topic, StoredTopic stored) {
        boolean first = !topic.known();
        if (topic.update(stored)) {
            for (int i = 0; i < stored.settings().shards(); i++) {
                ShardId id = new ShardId(topic.topic(), i);
                shards.computeIfAbsent(id, s -> new Shard(s, topic, connection.clock(s), timer, this));
            }
            assign();
        }
        if (first) {
            membership.announce();
        }
    }

    private void refreshTopics() {
        topicsTimer.setAt(System.nanoTime() + TOPICS_NS);
        registry.refreshKnown(System.nanoTime() + CALL_DEADLINE_NS).whenComplete((done, failure) -> {
            if (failure != null) {
                calls.failed("", failure);
            }
            for (TopicWork topic : topics.values()) {
                registry.known(topic.topic())
                        .ifPresentOrElse(
                                stored -> {
                                    if (!stored.equals(topic.stored())) {
                                        learned(topic, stored);
                                    }
                                },
                                () -> learn(topic));
            }
        });
        shedStarved();
    }

    /** Gives topics up whose due jobs find no slot while another node handles them, and takes them back when slots are free. */
    private void shedStarved() {
        long nowNs = System.nanoTime();
        for (TopicWork topic : topics.values()) {
            boolean starved = topic.starvedSinceNs() != 0
                    && nowNs - topic.starvedSinceNs() > STARVED_NS
                    && slots.free(topic) <= 0;
            boolean others = membership.peers().stream()
                    .anyMatch(peer -> !peer.id().equals(membership.node().id()) && peer.takes(topic.topic()));
            if (!topic.shed() && starved && others) {
                shed(topic, true);
            } else if (topic.shed() && slots.free(topic) >= Math.max(1, slots.total() / 4)) {
                shed(topic, false);
            }
        }
    }

    private void shed(TopicWork topic, boolean on) {
        log.warn(
                "node: {} topic={} free_slots={} slots={}",
                on ? "no free slot, giving up" : "taking up again",
                topic.topic(),
                slots.free(topic),
                slots.total());
        topic.shed(on);
        topic.starvedSince(0);
        assign();
        membership.announce();
        if (on) {
            for (Shard shard : shards.values()) {
                if (shard.topic() == topic && shard.rank != 0) {
                    claims.giveUp(shard, List.copyOf(shard.held.keySet()), settings.beat());
                }
            }
        }
    }

    @Override
    public void changed(Set<String> gone) {
        assign();
        if (!gone.isEmpty() && !stopping) {
            recovery.gone(gone);
        }
    }

    @Override
    public void renamed() {
        claims.forgetAll();
        for (Shard shard : shards.values()) {
            shard.seq = 0;
            shard.rank = -1;
            shard.verdicts.clear();
        }
        owned = 0;
        // Redis may have come back empty: topics and their epochs are declared again.
        topics.keySet().forEach(topic -> registry.refresh(topic, System.nanoTime() + CALL_DEADLINE_NS));
    }

    /** Computes the nodes' ranks for each shard and acts on what changed for this one. */
    private void assign() {
        String self = membership.node().id();
        Collection<Peer> peers = membership.peers();
        int nowOwned = 0;
        for (TopicWork topic : topics.values()) {
            if (!topic.known()) {
                continue;
            }
            Set<String> takers = peers.stream()
                    .filter(peer -> peer.takes(topic.topic()))
                    .map(Peer::id)
                    .collect(Collectors.toCollection(HashSet::new));
            if (takers.isEmpty()) {
                peers.stream()
                        .filter(peer -> peer.handles(topic.topic()))
                        .map(Peer::id)
                        .forEach(takers::add);
            }
            Map<ShardId, List<String>> ranks =
                    Assignment.ranks(topic.topic(), topic.settings().shards(), takers);
            for (Map.Entry<ShardId, List<String>> entry : ranks.entrySet()) {
                Shard shard = shards.get(entry.getKey());
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
                    name,
                    peers.size(),
                    nowOwned,
                    shards.size());
        }
        owned = nowOwned;
    }

    private void rank(Shard shard, int rank, String owner) {
        boolean changed = shard.rank != rank || !owner.equals(shard.owner);
        shard.rank = rank;
        shard.owner = owner;
        if (changed) {
            shard.suspected = List.of();
            listen(shard);
            claims.look(shard);
        }
    }

    /** Listens to the hints of a shard while this node owns it or holds leases of it. */
    private void listen(Shard shard) {
        boolean wanted = !stopping && (shard.rank == 0 || !shard.held.isEmpty());
        if (wanted && shard.unsubscribe == null && !shard.subscribing) {
            shard.subscribing = true;
            leases.onWake(shard.id, wake -> claims.hinted(shard, wake))
                    .whenComplete((end, failure) -> timer.execute(() -> {
                        shard.subscribing = false;
                        if (failure != null) {
                            // Without hints the looks find everything, later; the next change of rank tries again.
                            calls.failed(shard.id.topic(), failure);
                        } else {
                            shard.unsubscribe = end;
                            listen(shard);
                        }
                    }));
        } else if (!wanted && shard.unsubscribe != null) {
            shard.unsubscribe.run();
            shard.unsubscribe = null;
        }
    }

    /** Begins to stop: takes nothing more, gives the leases back, and lets what runs finish; see {@link #stopped}. */
    void stop() {
        if (stopping) {
            return;
        }
        stopping = true;
        log.info(
                "node: stopping node={} name={} in_flight={}",
                membership.node().id(),
                name,
                handlers.all().size());
        topicsTimer.cancel();
        membership.announce();
        claims.releaseAll();
        shards.values().forEach(this::listen);
        handlers.stop(false);
        shards.values().forEach(completions::flush);
        timer.timer(() -> handlers.stop(true))
                .setAt(System.nanoTime() + settings.stopGrace().toNanos());
        checkStopped();
    }

    /** Leaves when everything that the node had is given back. */
    void checkStopped() {
        boolean calling = shards.values().stream().anyMatch(shard -> shard.calling);
        if (stopping && !calling && handlers.all().isEmpty() && !stopped.isDone()) {
            membership.leave().whenComplete((left, failure) -> stopped.complete(null));
        }
    }

    CompletableFuture<Void> stopped() {
        return stopped;
    }

    /** From now on nothing is repeated. */
    void close() {
        closed = true;
        handlers.close();
    }

    String name() {
        return name;
    }

    /** What is left to say of a node whose thread has ended; any thread may ask. */
    NodeStats lastStats(Map<Telemetry.Counter, Long> counters) {
        return new NodeStats("", name, false, 0, List.of(), settings.slots(), 0, 0, 0, counters);
    }

    NodeStats stats(Map<Telemetry.Counter, Long> counters) {
        List<BucketId> held = new ArrayList<>();
        shards.values().forEach(shard -> shard.held.values().forEach(lease -> held.add(lease.bucket)));
        boolean allStuck = handlers.stuck() >= slots.total();
        return new NodeStats(
                membership.node().id(),
                name,
                membership.joined() && !stopping && !allStuck,
                owned,
                held,
                slots.total(),
                handlers.all().size(),
                slots.used(),
                handlers.stuck(),
                counters);
    }
}

package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.AuditStore;
import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.Resharding;
import io.minutehand.core.write.TopicRegistry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a running node and the events that pass between them: who is alive decides which shards are this node's; looks, hints and timers
 * drive claims and pops. Everything here happens on the node's thread.
 */
final class NodeEngine implements Membership.Listener {
    private static final Logger log = LoggerFactory.getLogger(NodeEngine.class);

    private final DueTimer timer;
    private final WorkerSettings settings;
    private final String name;
    private final Map<String, TopicWork> topics = new LinkedHashMap<>();
    private final Map<ShardId, Shard> shards = new LinkedHashMap<>();
    private final StoreConnection connection;
    private final TopicWatch topicWatch;
    private final HomeKeeper homeKeeper;
    private final Membership membership;
    private final Ownership ownership;
    private final Hints hints;
    private final Shedding shedding;
    private final StoreCalls calls;
    private final Slots slots;
    private final Looks looks;
    private final BucketClaims claims;
    private final BucketDrainer drainer;
    private final HandlerPool handlers;
    private final Completions completions;
    private final Extensions extensions;
    private final Recovery recovery;
    private final LedgerWatch ledgerWatch;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private boolean stopping;
    private boolean leaving;
    private volatile boolean closed;

    NodeEngine(
            StoreConnection connection,
            DueTimer timer,
            WorkerSettings settings,
            String name,
            Collection<TopicWork> work,
            Map<String, TopicSettings> declared,
            Telemetry telemetry,
            ExecutorService executor) {
        this.connection = connection;
        this.timer = timer;
        this.settings = settings;
        this.name = name;
        work.forEach(topic -> topics.put(topic.topic(), topic));
        ClusterStore cluster = connection.cluster(timer);
        JobStore jobs = connection.jobs(timer);
        LeaseStore leases = connection.leases(timer);
        this.calls = new StoreCalls(timer, telemetry);
        this.topicWatch = new TopicWatch(new TopicRegistry(cluster, declared, true), this, timer);
        this.homeKeeper = new HomeKeeper(new Resharding(connection, timer), this, timer);
        this.membership = new Membership(cluster, settings, connection.clientId(), this::self, this, timer);
        this.ownership = new Ownership(leases, this, timer);
        this.hints = new Hints(ownership);
        this.shedding = new Shedding(this, settings, timer);
        this.looks = new Looks(leases, settings, telemetry, this);
        this.claims = new BucketClaims(leases, settings, telemetry, this, timer);
        this.drainer = new BucketDrainer(jobs, this, telemetry);
        this.handlers = new HandlerPool(this, telemetry, timer, executor);
        this.slots = new Slots(settings.slots(), handlers.suspects()::next, drainer::pump);
        this.completions = new Completions(jobs, this, telemetry, timer, settings.slots());
        this.extensions = new Extensions(jobs, this, timer);
        this.recovery = new Recovery(jobs, leases, this, telemetry);
        AuditStore audits = connection.audits(timer);
        this.ledgerWatch = new LedgerWatch(
                shard -> audits.ledger(shard, System.nanoTime()), this::owned, settings, calls, telemetry, timer);
    }

    void start() {
        long nowNs = System.nanoTime();
        topicWatch.start(nowNs);
        homeKeeper.start(nowNs);
        membership.start(nowNs);
        claims.start(nowNs);
        extensions.start(nowNs);
        shedding.start(nowNs);
        ledgerWatch.start(nowNs);
    }

    Membership membership() {
        return membership;
    }

    Ownership ownership() {
        return ownership;
    }

    Hints hints() {
        return hints;
    }

    StoreCalls calls() {
        return calls;
    }

    Slots slots() {
        return slots;
    }

    Looks looks() {
        return looks;
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

    String name() {
        return name;
    }

    /** The topics that this node handles. */
    Collection<TopicWork> topics() {
        return topics.values();
    }

    Collection<Shard> shards() {
        return shards.values();
    }

    /** A shard of a topic whose settings are known, else null. */
    @Nullable
    Shard shard(ShardId id) {
        return shards.get(id);
    }

    private List<ShardId> owned() {
        return shards.values().stream()
                .filter(shard -> shard.rank == 0)
                .map(shard -> shard.id)
                .toList();
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

    /** Settings of a topic were read and are others than before. */
    void learned(TopicWork topic, StoredTopic stored) {
        boolean first = !topic.known();
        long pausedUntilMs = topic.pausedUntilMs();
        if (topic.update(stored)) {
            for (ShardId id : stored.shards()) {
                shards.computeIfAbsent(id, s -> new Shard(s, topic, connection.clock(s), timer, this));
            }
            ownership.assign();
        }
        if (first) {
            membership.announce();
        }
        if (topic.pausedUntilMs() != pausedUntilMs) {
            shards.values().stream().filter(shard -> shard.topic() == topic).forEach(drainer::pump);
        }
    }

    @Override
    public void changed(Set<String> gone) {
        ownership.assign();
        if (!gone.isEmpty() && !stopping) {
            recovery.gone(gone);
        }
    }

    @Override
    public void renamed(NodeId old) {
        claims.forgetAll(old);
        ownership.forgetAll();
        topicWatch.declareAgain();
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
        topicWatch.stop();
        homeKeeper.stop();
        shedding.stop();
        ledgerWatch.stop();
        membership.announce();
        claims.releaseAll();
        shards.values().forEach(ownership::listen);
        handlers.stop(false);
        shards.values().forEach(completions::flush);
        timer.timer(() -> handlers.stop(true))
                .setAt(System.nanoTime() + settings.stopGrace().toNanos());
        checkStopped();
    }

    /** Leaves when everything that the node had is given back. */
    void checkStopped() {
        if (stopping
                && !leaving
                && handlers.all().isEmpty()
                && claims.unsettled() == 0
                && completions.callbacks() == 0
                && shards.values().stream().noneMatch(shard -> shard.calling)) {
            leaving = true;
            membership.leave().whenComplete((left, failure) -> stopped.complete(null));
        }
    }

    CompletableFuture<Void> stopped() {
        return stopped;
    }

    /** From now on nothing is repeated. Called by the closing thread. */
    void close() {
        closed = true;
        handlers.close();
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
                ownership.owned(),
                held,
                slots.total(),
                handlers.all().size(),
                handlers.running(),
                handlers.stuck(),
                counters);
    }
}

package io.minutehand.worker;

import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.NodeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is alive. Each node raises a counter in Redis every beat and reads everybody's with the same call.
 *
 * <p>A node is dead for an observer when its counter stood still for {@code deadAfter} while the observer's own beats were answered without a gap.
 * After a gap of its own (an outage, a pause, a fail-over of the list's slot) an observer judges nobody for {@code deadAfter} and goes on with the
 * list that it had, so that an outage of the list breaks no lease. A verdict is written by comparing the counter: a node that has
 * beaten meanwhile stays. A node that finds itself struck off, or Redis empty, comes back under a new id. Only the node's thread touches this.
 */
final class Membership {
    private static final Logger log = LoggerFactory.getLogger(Membership.class);
    private static final int VERSIONS = 1000;
    private static final Duration DESCRIPTION_TTL = Duration.ofMinutes(10);
    private static final Duration DESCRIPTION_REFRESH = Duration.ofMinutes(3);

    /** Told of changes, on the node's thread. */
    interface Listener {
        /** The list changed; {@code gone} are ids that were on it and are not any more. */
        void changed(Set<String> gone);

        /** The node was struck off (or Redis came back empty) and is another now; nothing that it held under its old id counts any more. */
        void renamed(NodeId old);
    }

    private static final class Seen {
        private long score;
        private long changedNs;
        private @Nullable Peer peer;

        /** Version of the description that {@code peer} was read from, or a later one; -1 before. */
        private long readVersion = -1;

        /** Whether the description is being read: one call at a time, or an older answer could come last. */
        private boolean reading;
    }

    private final ClusterStore store;
    private final WorkerSettings settings;
    private final String clientId;
    private final Supplier<Peer> self;
    private final Listener listener;
    private final DueTimer time;
    private final DueTimer.Timer timer;
    private final CompletableFuture<Boolean> left = new CompletableFuture<>();
    private final Map<String, Seen> seen = new LinkedHashMap<>();
    private NodeId node;
    private boolean joined;

    /** Whether every listed node has said what it handles since this one joined: before, it would claim what is theirs. */
    private boolean settled;

    private long joinedNs;
    private boolean beating;
    private boolean leaving;
    private long beats;
    private int version = 1;
    private long describedNs;
    private boolean described;

    /** Whether the description has changed since it was last sent. */
    private boolean announced;

    /** nanoTime at which the last beat that was answered was sent. */
    private long lastAnswerNs;

    private long judgeFromNs;

    /** What waits to learn whether this node is listed still. */
    private final List<Runnable> unsure = new ArrayList<>();

    /** nanoTime at which the last beat that was answered or failed was sent. */
    private long lastTriedNs;

    /** What waits for the first beat after this process stood still. */
    private final List<Runnable> paused = new ArrayList<>();

    Membership(
            ClusterStore store,
            WorkerSettings settings,
            String clientId,
            Supplier<Peer> self,
            Listener listener,
            DueTimer timer) {
        this.store = store;
        this.settings = settings;
        this.clientId = clientId;
        this.self = self;
        this.listener = listener;
        this.time = timer;
        this.timer = timer.timer(() -> runOnce(timer.nowNs()));
        this.node = NodeId.next(clientId);
    }

    /** The node's identity now; {@link Listener#renamed} tells when it changes. */
    NodeId node() {
        return node;
    }

    boolean joined() {
        return joined;
    }

    /** Beats that were answered since the start. */
    long beats() {
        return beats;
    }

    void start(long nowNs) {
        lastAnswerNs = nowNs;
        lastTriedNs = nowNs;
        judgeFromNs = nowNs + settings.deadAfter().toNanos();
        timer.setAt(nowNs);
    }

    /** The nodes that count as alive and have said what they handle, this one included; empty until all have. */
    Collection<Peer> peers() {
        Set<Peer> peers = new HashSet<>();
        if (!settled) {
            return peers;
        }
        peers.add(self.get());
        seen.forEach((id, other) -> {
            if (other.peer != null && !id.equals(node.id())) {
                peers.add(other.peer);
            }
        });
        return peers;
    }

    /** Whether a node has been silent for so long that it may be dead soon. */
    boolean suspect(String id) {
        Seen other = seen.get(id);
        return other == null
                || time.nowNs() - other.changedNs > settings.deadAfter().toNanos() / 2;
    }

    /**
     * Runs a task as soon as it is known whether this node was struck off until now: at once, as a rule; after a gap of its own with the next answer
     * to a beat. Then {@link #node} is another if it was.
     */
    void whenSure(Runnable task) {
        if (surelyListed()) {
            task.run();
        } else {
            unsure.add(task);
        }
    }

    /** Nobody is struck off sooner than this after a beat, and the last one was answered, so sent and counted, later than that. */
    private boolean surelyListed() {
        return joined && time.nowNs() - lastAnswerNs < silentNs();
    }

    /**
     * Runs a task at once; but if this process has just stood still for so long that it may have been struck off, when a beat was tried. It need
     * not have been answered: shards are served also while the list of nodes cannot be reached, and then nobody is struck off.
     */
    void afterPause(Runnable task) {
        if (time.nowNs() - lastTriedNs < silentNs()) {
            task.run();
        } else {
            paused.add(task);
        }
    }

    /** A beat was answered or has failed; one that was sent before a pause tells nothing of what happened in it. */
    private void tried(long sentNs) {
        lastTriedNs = sentNs;
        if (time.nowNs() - sentNs < silentNs()) {
            List<Runnable> tasks = List.copyOf(paused);
            paused.clear();
            tasks.forEach(Runnable::run);
        }
    }

    private void nowSure() {
        List<Runnable> tasks = List.copyOf(unsure);
        unsure.clear();
        tasks.forEach(Runnable::run);
    }

    /** How long a counter may stand still. Half a beat is taken off, since the answers come a beat apart and would otherwise notice one beat late. */
    private long silentNs() {
        return settings.deadAfter().minus(settings.beat().dividedBy(2)).toNanos();
    }

    /** The node's description has changed: it goes out with a beat at once. */
    void announce() {
        described = false;
        announced = true;
        if (joined) {
            timer.setAt(time.nowNs());
        }
    }

    /** One beat, and the verdicts that follow from its answer. */
    int runOnce(long nowNs) {
        if (leaving) {
            return 0;
        }
        timer.setAt(nowNs + settings.beat().toNanos());
        if (beating) {
            return 0;
        }
        beating = true;
        if (!described || nowNs - describedNs > DESCRIPTION_REFRESH.toNanos()) {
            described = true;
            announced = false;
            describedNs = nowNs;
            version = (version + 1) % VERSIONS;
            store.describe(node.id(), self.get().describe(), DESCRIPTION_TTL)
                    .whenComplete(StoreCalls.guarded((done, failure) -> {
                        if (failure != null) {
                            described = false;
                        }
                        beat(nowNs);
                    }));
        } else {
            beat(nowNs);
        }
        return 1;
    }

    /**
     * A node whose beats arrive while their answers are lost looks alive and does nothing. So after a gap of its own it beats again only when
     * something was answered: until then it asks, which changes nothing.
     */
    private void beat(long nowNs) {
        if (!joined || nowNs - lastAnswerNs <= longestGapNs()) {
            sendBeat(nowNs);
            return;
        }
        store.description(node.id()).whenComplete(StoreCalls.guarded((heard, failure) -> {
            if (heard != null && !leaving) {
                sendBeat(nowNs);
                return;
            }
            beating = false;
            if (leaving) {
                sayFarewell();
            } else {
                tried(nowNs);
                // Sooner than the next beat, which might be too late, and with a pause, since a refusal comes at once.
                timer.setAt(time.nowNs() + settings.beat().dividedBy(4).toNanos());
            }
        }));
    }

    /** Two and a half beats: a single answer that is late or lost is no gap yet. */
    private long longestGapNs() {
        return settings.beat().multipliedBy(5).dividedBy(2).toNanos();
    }

    private void sendBeat(long nowNs) {
        NodeId beaten = node;
        store.beat(beaten.id(), !joined, version).whenComplete(StoreCalls.guarded((nodes, failure) -> {
            beating = false;
            if (leaving) {
                // Only now: a beat that arrives after the farewell could bring the node back.
                sayFarewell();
                return;
            }
            if (announced) {
                // It changed while this beat was under way. One that could not be stored has time until the next.
                timer.setAt(time.nowNs());
            }
            if (nodes == null) {
                log.debug(
                        "membership: beat failed node={} cause={}",
                        beaten.id(),
                        failure == null ? "" : failure.getMessage());
            } else if (nodes.isEmpty()) {
                rename();
            } else {
                answered(nowNs, nodes.get());
            }
            tried(nowNs);
        }));
    }

    private void rename() {
        NodeId old = node;
        node = NodeId.next(clientId);
        joined = false;
        settled = false;
        described = false;
        seen.clear();
        log.warn(
                "membership: struck off, coming back old_node={} node={} name={}",
                old.id(),
                node.id(),
                self.get().name());
        judgeFromNs = time.nowNs() + settings.deadAfter().toNanos();
        listener.renamed(old);
        nowSure();
        timer.setAt(time.nowNs());
    }

    private void answered(long sentNs, Map<String, Long> scores) {
        beats++;
        long nowNs = time.nowNs();
        if (nowNs - lastAnswerNs > longestGapNs() && joined) {
            judgeFromNs = nowNs + settings.deadAfter().toNanos();
            log.info(
                    "membership: own gap, judging nobody for a while gap_ms={} for_ms={}",
                    (nowNs - lastAnswerNs) / 1_000_000,
                    settings.deadAfter().toMillis());
        }
        lastAnswerNs = sentNs;
        if (!joined) {
            joined = true;
            joinedNs = nowNs;
        }
        if (surelyListed()) {
            nowSure();
        }
        Set<String> gone = new HashSet<>(seen.keySet());
        gone.removeAll(scores.keySet());
        gone.forEach(seen::remove);
        for (Map.Entry<String, Long> entry : scores.entrySet()) {
            observe(entry.getKey(), entry.getValue(), nowNs);
        }
        if (settle(nowNs) || !gone.isEmpty()) {
            gone.forEach(id -> log.info("membership: node gone node={}", id));
            listener.changed(gone);
        }
    }

    /** True when the list has become complete by now; a node that says nothing of itself is waited for two beats. */
    private boolean settle(long nowNs) {
        if (settled) {
            return false;
        }
        boolean complete = seen.entrySet().stream()
                .allMatch(
                        other -> other.getValue().peer != null || other.getKey().equals(node.id()));
        settled = joined && (complete || nowNs - joinedNs > 2 * settings.beat().toNanos());
        return settled;
    }

    private void observe(String id, long score, long nowNs) {
        Seen other = seen.computeIfAbsent(id, i -> new Seen());
        if (other.score != score) {
            other.score = score;
            other.changedNs = nowNs;
        }
        if (id.equals(node.id())) {
            return;
        }
        // A read that fails is repeated with the next beat: who missed what a node handles would keep its shards.
        if (!other.reading && (other.readVersion != score % VERSIONS || other.peer == null)) {
            other.reading = true;
            describe(id, other, score % VERSIONS);
        }
        if (nowNs - other.changedNs >= silentNs() && nowNs - judgeFromNs >= 0) {
            strike(id, score);
        }
    }

    private void describe(String id, Seen other, long version) {
        store.description(id).whenComplete(StoreCalls.guarded((description, failure) -> {
            other.reading = false;
            if (description == null || description.isEmpty() || seen.get(id) != other) {
                return;
            }
            other.readVersion = version;
            Peer peer = Peer.of(id, description);
            if (!Objects.equals(peer, other.peer)) {
                log.info(
                        "membership: node={} name={} topics={} shed={} draining={}",
                        id,
                        peer.name(),
                        peer.topics(),
                        peer.shed(),
                        peer.draining());
                other.peer = peer;
                settle(time.nowNs());
                listener.changed(Set.of());
            }
        }));
    }

    private void strike(String id, long score) {
        store.remove(id, score).whenComplete(StoreCalls.guarded((removed, failure) -> {
            if (removed == null || leaving) {
                return;
            }
            if (removed) {
                log.warn(
                        "membership: found dead node={} silent_ms>={}",
                        id,
                        settings.deadAfter().toMillis());
                seen.remove(id);
                listener.changed(Set.of(id));
            } else {
                // Another has struck it off, or it lives: the list says which, sooner than the next beat would.
                timer.setAt(time.nowNs());
            }
        }));
    }

    /** Leaves the list; what the node had must have been given back before. Answers whether it was on it. */
    CompletableFuture<Boolean> leave() {
        leaving = true;
        timer.cancel();
        if (!beating) {
            sayFarewell();
        }
        return left;
    }

    private void sayFarewell() {
        store.leave(node.id()).whenComplete((listed, failure) -> left.complete(failure == null && listed));
    }
}

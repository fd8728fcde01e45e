package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The buckets that this node leases: claimed when a look or a hint says so, kept until the minute is over and the bucket empty, renewed by one call
 * per shard. A lease is trusted until (time before the call was sent + lease - margin); whatever the node believes, Redis checks the
 * lease again inside each pop. Only the node's thread touches this.
 */
final class BucketClaims {
    private static final Logger log = LoggerFactory.getLogger(BucketClaims.class);

    /** A minute counts as over so long after its end: late labels of clocks that run behind still arrive. */
    private static final long OVER_MS = 1000;

    /** How long a minute is not asked for again, while a claim is under way or another holds it. */
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(1);

    private static final int LEASES_A_CALL = 500;
    private static final int LOST_LINES_A_SECOND = 20;

    private final LeaseStore store;
    private final WorkerSettings settings;
    private final Telemetry telemetry;
    private final NodeEngine engine;
    private final DueTimer.Timer renewTimer;
    private final LogLimiter lostLines = new LogLimiter(LOST_LINES_A_SECOND);
    private int unsettled;

    BucketClaims(LeaseStore store, WorkerSettings settings, Telemetry telemetry, NodeEngine engine, DueTimer timer) {
        this.store = store;
        this.settings = settings;
        this.telemetry = telemetry;
        this.engine = engine;
        this.renewTimer = timer.timer(this::renewAll);
    }

    void start(long nowNs) {
        renewTimer.setAt(nowNs + settings.renew().toNanos());
    }

    /** Claims and releases that Redis has not answered: a stop waits for them, or a lease would stay behind. */
    int unsettled() {
        return unsettled;
    }

    /**
     * Asks for a bucket's lease, unless that was done a moment ago. A node that stood still for so long that it may have been struck off asks
     * for its own state first: under its old id it would take what others are taking over.
     */
    void claim(Shard shard, long minute) {
        engine.membership().afterPause(() -> claimNow(shard, minute));
    }

    private void claimNow(Shard shard, long minute) {
        long sentNs = System.nanoTime();
        if (engine.stopping()
                || !engine.membership().joined()
                || sentNs - shard.claimedNs.getOrDefault(minute, sentNs - AGAIN_NS) < AGAIN_NS
                || shard.left.getOrDefault(minute, sentNs) - sentNs > 0) {
            return;
        }
        shard.claimedNs.put(minute, sentNs);
        NodeId node = engine.membership().node();
        BucketId bucket = new BucketId(shard.id, minute);
        unsettled++;
        store.claim(bucket, node, settings.lease()).whenComplete(StoreCalls.guarded((taken, failure) -> {
            unsettled--;
            if (taken == null) {
                shard.unanswered();
                shard.claimedNs.remove(minute);
                engine.calls().failed(shard.id.topic(), failure);
            } else if (taken && !wanted(shard, node)) {
                releaseMinutes(shard, List.of(minute), node);
            } else if (taken) {
                shard.claimedNs.remove(minute);
                Shard.Lease lease = shard.held.computeIfAbsent(
                        minute, unused -> new Shard.Lease(bucket, trustedUntilNs(sentNs), sentNs));
                // An answer that was long under way must not make the trust of a later one shorter.
                trustUntil(lease, trustedUntilNs(sentNs));
                shard.lookTimer.setBy(System.nanoTime() + settings.busyLook().toNanos());
                telemetry.count(Counter.CLAIMED, shard.id.topic(), 1);
                log.debug("claims: claimed {} node={}", bucket, node.id());
                engine.ownership().listen(shard);
                engine.drainer().pump(shard);
            }
            engine.checkStopped();
        }));
    }

    /** Whether a lease that was asked for may be kept: meanwhile the node may have become another, or given the topic up. */
    private boolean wanted(Shard shard, NodeId node) {
        return node.equals(engine.membership().node()) && !engine.stopping() && shard.rank >= 0;
    }

    private long trustedUntilNs(long sentNs) {
        return sentNs + settings.lease().minus(settings.trustMargin()).toNanos();
    }

    private static void trustUntil(Shard.Lease lease, long untilNs) {
        lease.trustedUntilNs = untilNs - lease.trustedUntilNs > 0 ? untilNs : lease.trustedUntilNs;
    }

    private void renewAll() {
        renewTimer.setAt(System.nanoTime() + settings.renew().toNanos());
        for (Shard shard : engine.shards()) {
            List<Shard.Lease> leases = new ArrayList<>(shard.held.values());
            for (int from = 0; from < leases.size(); from += LEASES_A_CALL) {
                renew(shard, List.copyOf(leases.subList(from, Math.min(leases.size(), from + LEASES_A_CALL))));
            }
        }
    }

    /** Repeats the call until the next renewal is due: two lost replies in a row would end the trust in leases that Redis still counts as the node's, and nobody would drain them meanwhile. */
    private void renew(Shard shard, List<Shard.Lease> leases) {
        long sentNs = System.nanoTime();
        long nextNs = sentNs + settings.renew().toNanos();
        NodeId node = engine.membership().node();
        List<Long> minutes = leases.stream().map(lease -> lease.bucket.minute()).toList();
        engine.calls()
                .<List<Boolean>>repeat(
                        shard.id.topic(),
                        () -> node.equals(engine.membership().node())
                                && !engine.closed()
                                && nextNs - System.nanoTime() > 0,
                        () -> store.renew(shard.id, minutes, node, settings.lease()),
                        (kept, failure, tries) -> {
                            if (tries.failed() > 0) {
                                shard.unanswered();
                            }
                            if (kept != null) {
                                shard.answered(System.nanoTime());
                                renewed(shard, leases, kept, sentNs);
                            }
                        });
    }

    private void renewed(Shard shard, List<Shard.Lease> leases, List<Boolean> kept, long sentNs) {
        for (int i = 0; i < leases.size(); i++) {
            Shard.Lease lease = leases.get(i);
            if (kept.get(i)) {
                trustUntil(lease, trustedUntilNs(sentNs));
            } else {
                lost(shard, lease, "renewal was refused");
            }
        }
    }

    /** Gives a lease up that is not the node's any more; nothing happens when it was given up before. */
    void lost(Shard shard, Shard.Lease lease, String why) {
        if (shard.held.remove(lease.bucket.minute(), lease)) {
            telemetry.count(Counter.LEASE_LOST, shard.id.topic(), 1);
            lostLines.log(left -> log.warn("claims: lease lost {} why=\"{}\"{}", lease.bucket, why, left));
            shard.lookTimer.setBy(System.nanoTime());
        }
    }

    /** Releases the leases of minutes that are over and empty. */
    void releaseOver(Shard shard, long nowMs) {
        List<Long> over = shard.held.values().stream()
                .filter(lease -> lease != shard.popping
                        && lease.dueMs == Shard.NONE_DUE
                        && Minutes.startMs(lease.bucket.minute() + 1) + OVER_MS <= nowMs)
                .map(lease -> lease.bucket.minute())
                .toList();
        if (!over.isEmpty()) {
            release(shard, over);
        }
        long nowNs = System.nanoTime();
        shard.claimedNs.values().removeIf(atNs -> nowNs - atNs >= AGAIN_NS);
        shard.left.values().removeIf(untilNs -> untilNs - nowNs <= 0);
    }

    /** Gives leases back and leaves the buckets to others for a while. */
    void leave(Shard shard, Collection<Long> minutes, Duration leaveFor) {
        long untilNs = System.nanoTime() + leaveFor.toNanos();
        List<Long> given = List.copyOf(minutes);
        given.forEach(minute -> shard.left.put(minute, untilNs));
        release(shard, given);
    }

    private void release(Shard shard, List<Long> minutes) {
        minutes.forEach(shard.held::remove);
        releaseMinutes(shard, minutes, engine.membership().node());
    }

    private void releaseMinutes(Shard shard, List<Long> minutes, NodeId node) {
        for (int from = 0; from < minutes.size(); from += LEASES_A_CALL) {
            List<Long> part = List.copyOf(minutes.subList(from, Math.min(minutes.size(), from + LEASES_A_CALL)));
            unsettled++;
            store.release(shard.id, part, node).whenComplete(StoreCalls.guarded((released, failure) -> {
                unsettled--;
                if (released == null) {
                    // The lease ends by itself.
                    engine.calls().failed(shard.id.topic(), failure);
                } else {
                    log.debug("claims: released {} minutes={}", shard, part);
                }
                engine.checkStopped();
            }));
        }
    }

    /** Gives everything back, for a stop. */
    void releaseAll() {
        renewTimer.cancel();
        for (Shard shard : engine.shards()) {
            release(shard, List.copyOf(shard.held.keySet()));
        }
    }

    /** The node is another now: what it held as the old one is given back, where that can be. */
    void forgetAll(NodeId old) {
        for (Shard shard : engine.shards()) {
            Map<Long, Shard.Lease> held = Map.copyOf(shard.held);
            shard.held.clear();
            shard.claimedNs.clear();
            shard.left.clear();
            releaseMinutes(shard, List.copyOf(held.keySet()), old);
        }
    }
}

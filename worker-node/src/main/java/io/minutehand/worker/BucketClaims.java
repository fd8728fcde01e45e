package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.ShardLook;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which buckets this node leases. A look at a shard reads which minutes hold jobs; the shard's owner claims those that have begun or begin soon,
 * oldest first, and keeps a lease until the minute is over and the bucket empty. The next in rank claims only what has been due
 * for a second per rank while nobody held it. Leases are trusted until (time before the call was sent + lease - margin) and renewed
 * by one call per shard. Only the node's thread touches this.
 */
final class BucketClaims {
    private static final Logger log = LoggerFactory.getLogger(BucketClaims.class);

    /** Looks of an idle shard by the nodes that would step in: rare, since a dead owner is found by its silence. */
    private static final Duration STEP_IN_LOOK = Duration.ofSeconds(6);

    /** The same when the owner is silent. */
    private static final Duration SUSPECT_LOOK = Duration.ofSeconds(1);

    /** How long due jobs wait for each better ranked node. */
    private static final long STEP_IN_MS = 1000;

    /** Looks a second of a node over all its shards, at most. */
    private static final int LOOKS_A_SECOND = 400;

    private static final int IDLE_LOOKS_A_SECOND = 50;

    /** A minute counts as over so long after its end: late labels of clocks that run behind still arrive. */
    private static final long OVER_MS = 1000;

    private static final int CLAIMS_A_LOOK = 32;
    private static final int LEASES_A_CALL = 500;

    private final LeaseStore store;
    private final WorkerSettings settings;
    private final Telemetry telemetry;
    private final NodeEngine engine;
    private final DueTimer.Timer renewTimer;

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

    /** Looks at a shard and claims what is this node's. */
    void look(Shard shard) {
        if (shard.looking || engine.stopping()) {
            return;
        }
        long askedNs = System.nanoTime();
        shard.lookTimer.setAt(askedNs + pauseNs(shard, askedNs));
        if (shard.rank < 0 && shard.held.isEmpty()) {
            return;
        }
        shard.looking = true;
        List<Long> asked = new ArrayList<>(shard.held.keySet());
        shard.suspected.stream()
                .filter(minute -> !shard.held.containsKey(minute))
                .forEach(asked::add);
        long until = Minutes.of(shard.clock.nowMs() + settings.claimAhead().toMillis());
        store.look(shard.id, until, asked).whenComplete((look, failure) -> {
            shard.looking = false;
            if (failure != null) {
                shard.unanswered();
                engine.calls().failed(shard.id.topic(), failure);
                return;
            }
            shard.answered(System.nanoTime());
            looked(shard, look, asked, askedNs);
        });
    }

    private long pauseNs(Shard shard, long nowNs) {
        boolean busy = nowNs - shard.lastActiveNs < settings.idleLook().toNanos();
        int owned = Math.max(1, engine.owned());
        if (shard.rank == 0 || !shard.held.isEmpty()) {
            Duration pause = busy ? settings.busyLook() : settings.idleLook();
            long shortestNs = TimeUnit.SECONDS.toNanos(owned) / (busy ? LOOKS_A_SECOND : IDLE_LOOKS_A_SECOND);
            return Math.max(pause.toNanos(), shortestNs);
        }
        boolean suspect = shard.owner != null && engine.membership().suspect(shard.owner, nowNs);
        return (suspect ? SUSPECT_LOOK : STEP_IN_LOOK.multipliedBy(Math.max(1, shard.rank))).toNanos();
    }

    private void looked(Shard shard, ShardLook look, List<Long> asked, long askedNs) {
        for (int i = 0; i < asked.size(); i++) {
            Shard.Lease lease = shard.held.get(asked.get(i));
            if (lease != null && !shard.calling) {
                lease.answered(look.buckets().get(i).firstDueMs(), askedNs);
            }
        }
        releaseOver(shard, look.nowMs());
        if (shard.rank == 0) {
            look.minutes().stream()
                    .filter(minute -> !shard.held.containsKey(minute))
                    .limit(CLAIMS_A_LOOK)
                    .forEach(minute -> claim(shard, minute));
        } else if (shard.rank > 0) {
            stepIn(shard, look, asked);
        }
        shard.overdue = look.deadlineMs() >= 0 && look.deadlineMs() <= look.nowMs();
        engine.drainer().pump(shard);
    }

    private void stepIn(Shard shard, ShardLook look, List<Long> asked) {
        List<Long> current = look.minutes().stream()
                .filter(minute -> minute <= Minutes.of(look.nowMs()) && !shard.held.containsKey(minute))
                .limit(CLAIMS_A_LOOK)
                .toList();
        boolean news = !asked.containsAll(current);
        for (long minute : current) {
            int at = asked.indexOf(minute);
            if (at >= 0) {
                ShardLook.Bucket bucket = look.buckets().get(at);
                boolean waited =
                        bucket.firstDueMs() >= 0 && bucket.firstDueMs() <= look.nowMs() - STEP_IN_MS * shard.rank;
                if (waited && bucket.leaseMs() < 0) {
                    claim(shard, minute);
                }
            }
        }
        shard.suspected = current;
        if (news) {
            look(shard);
        }
    }

    /** A hint: the bucket's first job is due sooner than known. */
    void hinted(Shard shard, LeaseStore.Wake wake) {
        telemetry.count(Counter.WOKEN, shard.id.topic(), 1);
        if (engine.stopping()) {
            return;
        }
        Shard.Lease lease = shard.held.get(wake.minute());
        if (lease != null) {
            lease.hint(wake.dueMs(), System.nanoTime());
            engine.drainer().pump(shard);
        } else if (shard.rank == 0) {
            claim(shard, wake.minute());
        }
    }

    private void claim(Shard shard, long minute) {
        long sentNs = System.nanoTime();
        Long avoidedUntilNs = shard.avoided.get(minute);
        if (engine.stopping()
                || !engine.membership().joined()
                || (avoidedUntilNs != null && avoidedUntilNs - sentNs > 0)) {
            return;
        }
        // While the claim is under way, and for a while when another holds it, it is not asked for again.
        shard.avoided.put(minute, sentNs + TimeUnit.SECONDS.toNanos(1));
        NodeId node = engine.membership().node();
        BucketId bucket = new BucketId(shard.id, minute);
        store.claim(bucket, node, settings.lease()).whenComplete((taken, failure) -> {
            if (failure != null) {
                shard.unanswered();
                shard.avoided.remove(minute);
                engine.calls().failed(shard.id.topic(), failure);
            } else if (taken && node.equals(engine.membership().node()) && !engine.stopping()) {
                shard.avoided.remove(minute);
                shard.held.put(minute, new Shard.Lease(bucket, trustedUntilNs(sentNs)));
                shard.lookTimer.setBy(System.nanoTime() + settings.busyLook().toNanos());
                telemetry.count(Counter.CLAIMED, shard.id.topic(), 1);
                log.debug("claims: claimed {} node={}", bucket, node.id());
                engine.drainer().pump(shard);
            } else if (taken) {
                releaseMinutes(shard, List.of(minute), node);
            }
        });
    }

    private long trustedUntilNs(long sentNs) {
        return sentNs + settings.lease().minus(settings.trustMargin()).toNanos();
    }

    private void renewAll() {
        renewTimer.setAt(System.nanoTime() + settings.renew().toNanos());
        for (Shard shard : engine.shards()) {
            List<Long> minutes = new ArrayList<>(shard.held.keySet());
            for (int from = 0; from < minutes.size(); from += LEASES_A_CALL) {
                renew(shard, List.copyOf(minutes.subList(from, Math.min(minutes.size(), from + LEASES_A_CALL))));
            }
        }
    }

    private void renew(Shard shard, List<Long> minutes) {
        long sentNs = System.nanoTime();
        NodeId node = engine.membership().node();
        store.renew(shard.id, minutes, node, settings.lease()).whenComplete((kept, failure) -> {
            if (failure != null) {
                shard.unanswered();
                engine.calls().failed(shard.id.topic(), failure);
                return;
            }
            shard.answered(System.nanoTime());
            for (int i = 0; i < minutes.size(); i++) {
                Shard.Lease lease = shard.held.get(minutes.get(i));
                if (lease != null && kept.get(i)) {
                    lease.trustedUntilNs = Math.max(lease.trustedUntilNs, trustedUntilNs(sentNs));
                } else if (lease != null && node.equals(engine.membership().node())) {
                    lost(shard, lease, "renewal was refused");
                }
            }
        });
    }

    /** Gives a lease up that is not the node's any more. */
    void lost(Shard shard, Shard.Lease lease, String why) {
        if (shard.held.remove(lease.bucket.minute(), lease)) {
            telemetry.count(Counter.LEASE_LOST, shard.id.topic(), 1);
            log.warn("claims: lease lost {} why=\"{}\"", lease.bucket, why);
            shard.lookTimer.setBy(System.nanoTime());
        }
    }

    private void releaseOver(Shard shard, long nowMs) {
        List<Long> over = shard.held.values().stream()
                .filter(lease ->
                        lease.dueMs == Shard.NONE_DUE && Minutes.startMs(lease.bucket.minute() + 1) + OVER_MS <= nowMs)
                .map(lease -> lease.bucket.minute())
                .toList();
        if (!over.isEmpty() && !shard.calling) {
            release(shard, over);
        }
        shard.avoided.values().removeIf(untilNs -> untilNs - System.nanoTime() < 0);
    }

    /** Gives leases back and does not ask for them again for a while. */
    void giveUp(Shard shard, Collection<Long> minutes, Duration avoidFor) {
        long untilNs = System.nanoTime() + avoidFor.toNanos();
        List<Long> given = new ArrayList<>(minutes);
        given.forEach(minute -> shard.avoided.put(minute, untilNs));
        release(shard, given);
    }

    private void release(Shard shard, List<Long> minutes) {
        minutes.forEach(shard.held::remove);
        releaseMinutes(shard, minutes, engine.membership().node());
    }

    private void releaseMinutes(Shard shard, List<Long> minutes, NodeId node) {
        for (int from = 0; from < minutes.size(); from += LEASES_A_CALL) {
            List<Long> part = List.copyOf(minutes.subList(from, Math.min(minutes.size(), from + LEASES_A_CALL)));
            store.release(shard.id, part, node).whenComplete((released, failure) -> {
                if (failure != null) {
                    // The lease ends by itself.
                    engine.calls().failed(shard.id.topic(), failure);
                } else {
                    log.debug("claims: released {} minutes={}", shard, part);
                }
            });
        }
    }

    /** Gives everything back, for a stop. */
    void releaseAll() {
        renewTimer.cancel();
        for (Shard shard : engine.shards()) {
            if (!shard.held.isEmpty()) {
                release(shard, new ArrayList<>(shard.held.keySet()));
            }
        }
    }

    /** Forgets everything: the node is another now. */
    void forgetAll() {
        for (Shard shard : engine.shards()) {
            shard.held.clear();
            shard.avoided.clear();
        }
    }
}

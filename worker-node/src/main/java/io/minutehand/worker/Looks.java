package io.minutehand.worker;

import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.ShardLook;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Reads, from time to time and by one call, which minutes of a shard hold jobs, when those it leases are due, and what is past its deadline; and
 * says what to claim. The shard's owner claims what has begun or begins soon, oldest first; the next in rank only what has
 * been due for a second per rank while nobody held it. Between looks hints tell what is due sooner. Only the node's thread touches this.
 */
final class Looks {
    /** Looks of an idle shard by the nodes that would step in: rare, since a dead owner is found by its silence. */
    private static final Duration STEP_IN_LOOK = Duration.ofSeconds(6);

    /** The same when the owner is silent. */
    private static final Duration SUSPECT_LOOK = Duration.ofSeconds(1);

    /** How long due jobs wait for each better ranked node. */
    private static final long STEP_IN_MS = 1000;

    /**
     * Looks a second of a node over all its shards, at most. An idle owner of more than a thousand shards sleeps longer than producers
     * think (they wake it for jobs due within 2.5 s), so there jobs scheduled shortly before that may be late by the difference.
     */
    private static final int LOOKS_A_SECOND = 400;

    private static final int CLAIMS_A_LOOK = 32;

    private final LeaseStore store;
    private final WorkerSettings settings;
    private final Telemetry telemetry;
    private final NodeEngine engine;

    Looks(LeaseStore store, WorkerSettings settings, Telemetry telemetry, NodeEngine engine) {
        this.store = store;
        this.settings = settings;
        this.telemetry = telemetry;
        this.engine = engine;
    }

    /** Looks at a shard and claims what is this node's. */
    void look(Shard shard) {
        if (shard.looking || engine.stopping()) {
            // A look that takes longer than the pause swallows the next one: its answer sets the timer again.
            shard.lookAgain = shard.looking;
            return;
        }
        long askedNs = System.nanoTime();
        shard.lookTimer.setAt(askedNs + pauseNs(shard, askedNs));
        if (shard.rank < 0 && shard.held.isEmpty()) {
            return;
        }
        shard.looking = true;
        List<Shard.Lease> leases = List.copyOf(shard.held.values());
        List<Long> asked = new ArrayList<>(shard.held.keySet());
        shard.suspected.stream()
                .filter(minute -> !shard.held.containsKey(minute))
                .forEach(asked::add);
        long until = Minutes.of(shard.clock.nowMs() + settings.claimAhead().toMillis());
        store.look(shard.id, until, asked).whenComplete(StoreCalls.guarded((look, failure) -> {
            shard.looking = false;
            shard.lookTimer.setBy(System.nanoTime() + (shard.lookAgain ? 0 : pauseNs(shard, System.nanoTime())));
            shard.lookAgain = false;
            if (look == null) {
                shard.unanswered();
                engine.calls().failed(shard.id.topic(), failure);
                return;
            }
            shard.answered(System.nanoTime());
            for (int i = 0; i < leases.size(); i++) {
                // What a pop under way will answer is newer.
                if (leases.get(i) != shard.popping) {
                    leases.get(i).answered(look.buckets().get(i).firstDueMs(), askedNs);
                }
            }
            looked(shard, look, asked);
        }));
    }

    private long pauseNs(Shard shard, long nowNs) {
        if (shard.rank == 0 || !shard.held.isEmpty()) {
            boolean busy = nowNs - shard.lastActiveNs < settings.idleLook().toNanos();
            Duration pause = busy ? settings.busyLook() : settings.idleLook();
            long shortestNs =
                    TimeUnit.SECONDS.toNanos(Math.max(1, engine.ownership().owned())) / LOOKS_A_SECOND;
            return Math.max(pause.toNanos(), shortestNs);
        }
        boolean suspect = shard.owner != null && engine.membership().suspect(shard.owner);
        return (suspect || shard.populated ? SUSPECT_LOOK : STEP_IN_LOOK.multipliedBy(Math.max(1, shard.rank)))
                .toNanos();
    }

    private void looked(Shard shard, ShardLook look, List<Long> asked) {
        shard.populated = !look.minutes().isEmpty();
        engine.claims().releaseOver(shard, look.nowMs());
        if (shard.rank == 0) {
            look.minutes().stream()
                    .filter(minute -> !shard.held.containsKey(minute))
                    .limit(CLAIMS_A_LOOK)
                    .forEach(minute -> engine.claims().claim(shard, minute));
        } else if (shard.rank > 0) {
            stepIn(shard, look, asked);
        }
        engine.ownership().listen(shard);
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
                    engine.claims().claim(shard, minute);
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
        shard.hintedNs = System.nanoTime();
        if (engine.stopping()) {
            return;
        }
        Shard.Lease lease = shard.held.get(wake.minute());
        if (lease != null) {
            lease.hint(wake.dueMs(), System.nanoTime());
            engine.drainer().pump(shard);
        } else if (shard.rank == 0) {
            shard.left.remove(wake.minute());
            engine.claims().claim(shard, wake.minute());
        }
    }
}

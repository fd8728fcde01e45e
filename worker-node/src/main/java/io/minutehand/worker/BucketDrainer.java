package io.minutehand.worker;

import io.minutehand.core.job.Limits;
import io.minutehand.core.store.Handout;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.StoredTopic;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pops what is due. Event-driven: each pop answers when the next job of the bucket is due, and the shard sleeps exactly until then; hints and
 * looks move that sooner. One pop or recover per shard is under way at a time, numbered, and repeated under the same number until it is
 * answered, so that a lost reply hides no job. Only the node's thread touches this.
 */
final class BucketDrainer {
    private static final Logger log = LoggerFactory.getLogger(BucketDrainer.class);

    /**
     * How long buckets in which only records of a newer version are left are left to newer nodes. The pop has put those off for 10 s; after
     * that the next in rank needs a second per rank and a look (6 s per rank) to step in.
     */
    private static final Duration LEAVE_TO_NEWER = Duration.ofSeconds(30);

    /** Jobs due sooner than this are worth keeping the lease for. */
    private static final long SOON_MS = 5000;

    private static final int LINES_A_SECOND = 5;

    private final JobStore store;
    private final NodeEngine engine;
    private final Telemetry telemetry;
    private final LogLimiter lines = new LogLimiter(LINES_A_SECOND);

    BucketDrainer(JobStore store, NodeEngine engine, Telemetry telemetry) {
        this.store = store;
        this.engine = engine;
        this.telemetry = telemetry;
    }

    /** One pass over a shard: recovers or pops if something is due and slots are free, else sets the timer. */
    void pump(Shard shard) {
        if (shard.calling || engine.stopping() || engine.completions().overloaded()) {
            return;
        }
        if (paused(shard)) {
            return;
        }
        if (engine.recovery().next(shard)) {
            return;
        }
        long nowNs = System.nanoTime();
        Shard.Lease first = null;
        for (Shard.Lease lease : List.copyOf(shard.held.values())) {
            if (lease.trustedUntilNs - nowNs <= 0) {
                engine.claims().lost(shard, lease, "no renewal was answered in time");
            } else if (lease.dueMs != Shard.NONE_DUE && (first == null || lease.dueMs < first.dueMs)) {
                first = lease;
            }
        }
        if (first == null) {
            return;
        }
        long atNs = first.dueMs == Shard.UNKNOWN_DUE ? nowNs : shard.clock.nanoTimeAt(first.dueMs);
        long pacedNs = shard.behind ? nowNs : shard.pace.nextNs();
        long popNs = pacedNs - atNs > 0 ? pacedNs : atNs;
        if (popNs - nowNs > 0) {
            shard.drainTimer.setAt(popNs);
            return;
        }
        int granted = engine.slots().reserve(shard, Limits.BATCH_JOBS);
        if (granted == 0) {
            if (shard.topic().starvedSinceNs() == 0) {
                shard.topic().starvedSince(nowNs);
            }
            return;
        }
        shard.topic().starvedSince(0);
        pop(shard, first, granted);
    }

    /** Whether the topic is paused; if that has an end, the timer is set to it. Leases are kept, so that nobody else steps in. */
    private static boolean paused(Shard shard) {
        long untilMs = shard.topic().pausedUntilMs();
        if (shard.clock.nowMs() >= untilMs) {
            return false;
        }
        shard.topic().starvedSince(0);
        if (untilMs != StoredTopic.UNTIL_RESUMED) {
            shard.drainTimer.setAt(shard.clock.nanoTimeAt(untilMs));
        }
        return true;
    }

    private void pop(Shard shard, Shard.Lease lease, int granted) {
        shard.calling = true;
        shard.popping = lease;
        long sentNs = System.nanoTime();
        long seq = shard.seq + 1;
        NodeId node = engine.membership().node();
        Duration visibility = shard.topic().settings().visibility();
        engine.calls()
                .<Handout>repeat(
                        shard.id.topic(),
                        () -> node.equals(engine.membership().node()) && !engine.closed(),
                        () -> store.pop(lease.bucket, node, seq, granted, visibility),
                        (handout, failure, tries) -> {
                            if (tries.failed() > 0) {
                                shard.unanswered();
                            }
                            try {
                                taken(shard, lease, granted, sentNs, handout, failure);
                            } finally {
                                settle(shard, node, seq, failure);
                            }
                        });
    }

    /** Ends a numbered call and goes on. */
    void settle(Shard shard, NodeId node, long seq, @Nullable StoreException failure) {
        shard.calling = false;
        shard.popping = null;
        if (failure == null) {
            shard.answered(System.nanoTime());
        }
        if (node.equals(engine.membership().node()) && failure == null) {
            shard.seq = seq;
        }
        engine.checkStopped();
        pump(shard);
    }

    private void taken(
            Shard shard,
            Shard.Lease lease,
            int granted,
            long sentNs,
            @Nullable Handout handout,
            @Nullable StoreException failure) {
        if (handout == null) {
            engine.slots().release(shard.topic(), granted);
            // Refused for good, or the node is another now: a later look may find it otherwise.
            lease.dueMs = Shard.NONE_DUE;
            log.debug("drainer: pop failed {} cause={}", lease.bucket, failure == null ? "" : failure.getMessage());
            return;
        }
        switch (handout.status()) {
            case FENCED -> {
                telemetry.count(Counter.FENCED, shard.id.topic(), 1);
                engine.slots().release(shard.topic(), granted);
                engine.claims().lost(shard, lease, "pop was fenced");
            }
            case OLD -> {
                engine.slots().release(shard.topic(), granted);
                // Not before the next look: a tight loop of refusals would help nobody.
                lease.dueMs = Shard.NONE_DUE;
                lines.log(left -> log.error(
                        "drainer: call number was used before {} seq={}{}", lease.bucket, shard.seq + 1, left));
            }
            case OK -> {
                lease.answered(handout.next(), sentNs);
                int count = handout.jobs().size();
                shard.pace.sent(count, sentNs);
                shard.behind = count == granted;
                engine.slots().release(shard.topic(), granted - count);
                if (count > 0) {
                    shard.lastActiveNs = System.nanoTime();
                    telemetry.count(Counter.POPPED, shard.id.topic(), count);
                    if (count < granted) {
                        engine.hints().popped(shard, handout.jobs(), shard.clock.nowMs(), System.nanoTime());
                    }
                    log.debug("drainer: popped {} jobs={} next_due={}", lease.bucket, count, handout.next());
                    engine.handlers().accept(shard, handout.jobs(), sentNs, true);
                }
                if (handout.skipped() > 0) {
                    skipped(shard, lease, handout);
                }
            }
            default -> throw new IllegalStateException("status " + handout.status());
        }
    }

    /** Leaves a bucket to newer nodes when what they alone can read is all that is left of it for now; a hint of a new job ends that. */
    private void skipped(Shard shard, Shard.Lease lease, Handout handout) {
        telemetry.count(Counter.SKIPPED_NEWER, shard.id.topic(), handout.skipped());
        lines.log(left -> log.warn(
                "drainer: records of a newer version left alone {} jobs={}{}", lease.bucket, handout.skipped(), left));
        boolean nothingSoon = handout.next() < 0 || handout.next() > shard.clock.nowMs() + SOON_MS;
        if (nothingSoon && shard.held.get(lease.bucket.minute()) == lease) {
            engine.claims().leave(shard, List.of(lease.bucket.minute()), LEAVE_TO_NEWER);
        }
    }
}

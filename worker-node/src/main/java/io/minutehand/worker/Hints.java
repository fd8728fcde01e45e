package io.minutehand.worker;

import io.minutehand.core.job.Job;
import io.minutehand.core.store.HandedJob;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that a shard's hints do not arrive any more, and listens anew. The client subscribes again by itself after most failures of a connection,
 * not after all; without hints nothing is lost, but every job that was scheduled for soon waits for the next look.
 *
 * <p>A job that came late although a slot was free, and that was scheduled so shortly before its time that a hint must have been sent, while none
 * was heard since, is taken for the sign. Wrong alarms cost a subscription, so there is at most one in ten seconds for a shard. Only the node's
 * thread touches this.
 */
final class Hints {
    private static final Logger log = LoggerFactory.getLogger(Hints.class);

    /** Producers send a hint for a job that is due within 2.5 s; this leaves room for the time until it is stored. */
    private static final long SOON_MS = 2000;

    /** Later than a hint that arrived would have let it be, and still sooner than most looks of a busy shard find it. */
    private static final long LATE_MS = 100;

    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(10);

    private final Ownership ownership;

    Hints(Ownership ownership) {
        this.ownership = ownership;
    }

    /**
     * Looks at what a pop brought for slots that had been free.
     *
     * @param nowMs the server's time
     */
    void popped(Shard shard, List<HandedJob> jobs, long nowMs, long nowNs) {
        if (shard.unsubscribe == null || nowNs - shard.listenedNs < AGAIN_NS) {
            return;
        }
        for (HandedJob handed : jobs) {
            if (unhinted(shard, handed.job(), nowMs)) {
                log.info(
                        "hints: none came for {} job={}, listening anew",
                        shard,
                        handed.job().id());
                ownership.listenAnew(shard);
                return;
            }
        }
    }

    private static boolean unhinted(Shard shard, Job job, long nowMs) {
        long createdMs = job.createdAt().toEpochMilli();
        long dueMs = job.dueAt().toEpochMilli();
        return job.attempt() == 1
                && job.delivery() == 1
                && dueMs - createdMs <= SOON_MS
                && nowMs - Math.max(dueMs, createdMs) >= LATE_MS
                && shard.hintedNs - shard.clock.nanoTimeAt(createdMs) < 0;
    }
}

package io.minutehand.core.admin;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.AuditStore;
import io.minutehand.core.store.AuditStore.Recount;
import io.minutehand.core.store.ShardStats;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares a shard's counter of pending jobs with what its buckets hold: all buckets at one instant if they are not too many, else in parts, which
 * is only believed when the shard's counters stood still meanwhile, several times with the same result.
 */
final class PendingCount {
    private static final int TRIES = 10;

    /** Jobs that move from one bucket to another between two parts do not show in the counters, so one count is no proof. */
    private static final int AGREEING = 3;

    enum Outcome {
        AGREES,
        DIFFERS,
        REPAIRED,
        /** The buckets changed all the time. */
        UNJUDGED
    }

    private final AuditStore store;
    private final ShardId shard;
    private final Set<Long> unlisted;
    private final boolean repair;
    private final long deadlineNs;
    private Recount last = new Recount(0, 0);

    /** With minutes of buckets that hold jobs though the index did not name them. */
    PendingCount(AuditStore store, ShardId shard, Set<Long> unlisted, boolean repair, long deadlineNs) {
        this.store = store;
        this.shard = shard;
        this.unlisted = unlisted;
        this.repair = repair;
        this.deadlineNs = deadlineNs;
    }

    Outcome run() {
        for (int i = 0; i < TRIES && System.nanoTime() - deadlineNs < 0; i++) {
            Set<Long> minutes = new TreeSet<>(unlisted);
            if (!collect(minutes)) {
                return runInParts();
            }
            List<Long> all = List.copyOf(minutes);
            Optional<Recount> counted =
                    store.recount(shard, all, false, deadlineNs).join();
            if (counted.isEmpty()) {
                continue;
            }
            last = counted.get();
            if (last.counter() == last.held()) {
                return Outcome.AGREES;
            }
            if (!repair) {
                return Outcome.DIFFERS;
            }
            if (store.recount(shard, all, true, deadlineNs).join().isPresent()) {
                return Outcome.REPAIRED;
            }
        }
        return Outcome.UNJUDGED;
    }

    /** Adds all minutes of the index; false when they are too many for one count. */
    private boolean collect(Set<Long> minutes) {
        long from = 0;
        while (minutes.size() <= AuditStore.COUNTED_BUCKETS) {
            List<Long> some = store.minutes(shard, from, deadlineNs).join();
            minutes.addAll(some);
            if (some.size() < AuditStore.BATCH) {
                return minutes.size() <= AuditStore.COUNTED_BUCKETS;
            }
            from = some.get(some.size() - 1) + 1;
        }
        return false;
    }

    private Outcome runInParts() {
        int agreeing = 0;
        for (int i = 0; i < TRIES && System.nanoTime() - deadlineNs < 0; i++) {
            ShardStats before = store.stats(shard, deadlineNs).join();
            long held = held();
            ShardStats after = store.stats(shard, deadlineNs).join();
            if (before.counters().equals(after.counters())) {
                Recount counted = new Recount(after.counter("pending"), held);
                if (counted.counter() == held) {
                    return Outcome.AGREES;
                }
                agreeing = counted.equals(last) ? agreeing + 1 : 1;
                last = counted;
                if (agreeing == AGREEING) {
                    return Outcome.DIFFERS;
                }
            }
        }
        return Outcome.UNJUDGED;
    }

    private long held() {
        long held = store.held(shard, List.copyOf(unlisted), deadlineNs).join();
        long from = 0;
        while (true) {
            List<Long> some = store.minutes(shard, from, deadlineNs).join();
            List<Long> others =
                    some.stream().filter(minute -> !unlisted.contains(minute)).toList();
            held += store.held(shard, others, deadlineNs).join();
            if (some.size() < AuditStore.BATCH) {
                return held;
            }
            from = some.get(some.size() - 1) + 1;
        }
    }

    /** What was counted last. */
    @Override
    public String toString() {
        return "counter=" + last.counter() + " held=" + last.held();
    }
}

package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.CallPace;
import io.minutehand.core.store.ServerClock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What a node knows of a shard of a topic that it handles. Only the node's thread touches it. */
final class Shard {
    /** Due time of a bucket that was not looked into yet. */
    static final long UNKNOWN_DUE = 0;

    /** Due time of an empty bucket. */
    static final long NONE_DUE = -1;

    /** What a job may wait so that others share its pop, at a job a millisecond, and when very many flow: so much later it starts. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(3);

    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(6);

    /** A bucket that this node leases. */
    static final class Lease {
        final BucketId bucket;

        /** nanoTime until which the node trusts the lease. */
        long trustedUntilNs;

        /** When the first job is due, epoch ms, or one of the constants above. */
        long dueMs = UNKNOWN_DUE;

        /** nanoTime of the last hint: an answer asked for earlier must not hide it. */
        long hintNs;

        Lease(BucketId bucket, long trustedUntilNs, long claimedNs) {
            this.bucket = bucket;
            this.trustedUntilNs = trustedUntilNs;
            // Before any question: there was no hint yet, whatever the origin of nanoTime.
            this.hintNs = claimedNs - 1;
        }

        /** Takes an answer over that was asked for at {@code askedNs}, unless a hint came since and is sooner. */
        void answered(long firstDueMs, long askedNs) {
            // One that came before the bucket was seen at all leaves it unknown: the job may have come right after the
            // answer was made.
            boolean hinted = hintNs - askedNs >= 0 && dueMs != NONE_DUE;
            dueMs = hinted && (firstDueMs < 0 || dueMs < firstDueMs) ? dueMs : firstDueMs;
        }

        void hint(long hintedDueMs, long nowNs) {
            hintNs = nowNs;
            dueMs = dueMs < 0 ? hintedDueMs : Math.min(dueMs, hintedDueMs);
        }
    }

    /** A node found dead, whose leases and jobs of this shard are to be taken over. */
    static final class Verdict {
        final String node;
        boolean broken;

        /** Receipts at the front that are not that node's. */
        int offset;

        /** Jobs taken over so far. */
        int taken;

        Verdict(String node) {
            this.node = node;
        }
    }

    final ShardId id;
    final ServerClock clock;

    /** Leases by minute. */
    final TreeMap<Long, Lease> held = new TreeMap<>();

    /** nanoTime at which minutes were last asked for: being claimed, or another's a moment ago. */
    final Map<Long, Long> claimedNs = new HashMap<>();

    /** Minutes that are left to other nodes, until a nanoTime. */
    final Map<Long, Long> left = new HashMap<>();

    /** With rank above 0: minutes seen with jobs that nobody may be draining. */
    List<Long> suspected = List.of();

    final Deque<Verdict> verdicts = new ArrayDeque<>();

    /** Jobs handled and not yet acknowledged to Redis. */
    final List<Running> acks = new ArrayList<>();

    final DueTimer.Timer drainTimer;
    final DueTimer.Timer lookTimer;
    final DueTimer.Timer ackTimer;

    private final TopicWork topic;

    /** 0 = this node should drain it, 1 = steps in first, ...; -1 = not in the list. */
    int rank = -1;

    @Nullable
    String owner;

    /** The last answered pop or recover of this node. */
    long seq;

    /** Whether a pop or recover is under way: one at a time, or a replay could not tell them apart. */
    boolean calling;

    /** The lease that a pop is under way for. */
    @Nullable
    Lease popping;

    boolean looking;

    /** Whether the last look saw minutes with jobs that have begun or begin soon. */
    boolean populated;

    /** Whether a look was asked for while one was under way. */
    boolean lookAgain;

    boolean acking;
    boolean overdue;

    /** nanoTime since when every call was answered; Long.MAX_VALUE while one was not. */
    long reachableSinceNs = Long.MAX_VALUE;

    /** Pops that find everything they are asked for; one that leaves due jobs is followed at once. */
    final CallPace pace = new CallPace(PAUSE_NS, LONGEST_PAUSE_NS, System.nanoTime());

    /** Whether the last pop left jobs that were due. */
    boolean behind;

    /** nanoTime of the last pop that found something, or of the beginning. */
    long lastActiveNs = System.nanoTime();

    @Nullable
    Runnable unsubscribe;

    boolean subscribing;

    /** nanoTime of the last subscription to hints. */
    long listenedNs = System.nanoTime();

    /** nanoTime of the last hint, or of the beginning. */
    long hintedNs = System.nanoTime();

    Shard(ShardId id, TopicWork topic, ServerClock clock, DueTimer timer, NodeEngine engine) {
        this.id = id;
        this.topic = topic;
        this.clock = clock;
        this.drainTimer = timer.timer(() -> engine.drainer().pump(this));
        this.lookTimer = timer.timer(() -> engine.looks().look(this));
        this.ackTimer = timer.timer(() -> engine.completions().flush(this));
    }

    TopicWork topic() {
        return topic;
    }

    void answered(long nowNs) {
        if (reachableSinceNs == Long.MAX_VALUE) {
            reachableSinceNs = nowNs;
        }
    }

    void unanswered() {
        reachableSinceNs = Long.MAX_VALUE;
    }

    /** Whether every call of the last {@code ns} was answered. */
    boolean reachableFor(long ns, long nowNs) {
        return reachableSinceNs != Long.MAX_VALUE && nowNs - reachableSinceNs >= ns;
    }

    @Override
    public String toString() {
        return "topic=" + id.topic() + " shard=" + id.shard();
    }
}

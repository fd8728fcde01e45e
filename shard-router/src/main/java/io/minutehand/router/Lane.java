package io.minutehand.router;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.CallPace;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one shard, in the order in which they came. One write is under way at a time: so jobs are stored in order, and those that come
 * meanwhile make the next batch. All but {@link #attended} belongs to the loop.
 */
final class Lane {
    /** Orders under way at once: each is a call of its own, and connections are few. */
    private static final int ORDERS = 8;

    /** What a job may wait so that others share its write, at a job a millisecond, and when very many flow: it is stored some ms later, and starts no later. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(6);

    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ShardId shard;
    private final ArrayDeque<WaitingJob> queue = new ArrayDeque<>();
    private final ArrayDeque<WaitingOrder<?>> orders = new ArrayDeque<>();
    private final List<WaitingOrder<?>> ordersUnderWay = new ArrayList<>(ORDERS);
    private List<WaitingJob> underWay = List.of();
    private int replacing;
    private long added;
    private long answered;
    private boolean dirty;
    private final CallPace pace;

    /** Whether a write is under way: then there is no need to wake the loop for a job more. */
    private volatile boolean busy;

    /** Whether the loop will look at it by itself when its pause is over. */
    private volatile boolean pausing;

    Lane(ShardId shard, long nowNs) {
        this.shard = shard;
        this.pace = new CallPace(PAUSE_NS, LONGEST_PAUSE_NS, nowNs);
    }

    ShardId shard() {
        return shard;
    }

    /** Whether the loop comes by without being woken. */
    boolean attended() {
        return busy || pausing;
    }

    /** How long it should wait for more jobs before it sends those that it has, ns; 0 or less = not at all. */
    long pauseNs(long nowNs) {
        return busy || queue.isEmpty() || queue.size() >= Limits.BATCH_JOBS ? 0 : pace.nextNs() - nowNs;
    }

    /** Begins or ends a pause; false when it was so before. */
    boolean pausing(boolean now) {
        boolean changed = pausing != now;
        pausing = now;
        return changed;
    }

    /** Marks it as one to look at; false when it was marked. */
    boolean markDirty() {
        boolean was = dirty;
        dirty = true;
        return !was;
    }

    void clearDirty() {
        dirty = false;
    }

    void add(WaitingJob job) {
        queue.add(job);
        added++;
        replacing += job.job().replace() ? 1 : 0;
    }

    /** An order starts when the jobs that came before it are answered: it must find what its caller has just scheduled. */
    void add(WaitingOrder<?> order) {
        order.startAfter(added);
        orders.add(order);
    }

    /**
     * Takes the next batch out of the queue: as many jobs as one write may carry, at least one if there is any. The same id comes twice in it
     * only if the second does not replace: a script cannot replace what it is just storing.
     *
     * @param spanNs how much the deadlines within it may differ: it is repeated until its last one, and the others wait for that
     */
    List<WaitingJob> nextBatch(long spanNs, long nowNs) {
        if (busy || queue.isEmpty()) {
            return List.of();
        }
        List<WaitingJob> batch = new ArrayList<>(Math.min(queue.size(), Limits.BATCH_JOBS));
        Set<String> ids = replacing > 0 ? new HashSet<>() : null;
        long bytes = 0;
        WaitingJob next;
        while (batch.size() < Limits.BATCH_JOBS && (next = queue.peek()) != null) {
            long bodyBytes = next.job().body().length;
            if (!batch.isEmpty()
                    && (bytes + bodyBytes > Limits.BATCH_BYTES
                            || !near(batch.get(0), next, spanNs)
                            || repeats(ids, next))) {
                break;
            }
            if (ids != null) {
                ids.add(next.id());
            }
            replacing -= next.job().replace() ? 1 : 0;
            bytes += bodyBytes;
            batch.add(next);
            queue.remove();
        }
        pace.sent(batch.size(), nowNs);
        underWay = batch;
        busy = true;
        return batch;
    }

    private static boolean near(WaitingJob first, WaitingJob next, long spanNs) {
        return Math.abs(next.deadlineNs() - first.deadlineNs()) <= spanNs;
    }

    private static boolean repeats(@Nullable Set<String> ids, WaitingJob next) {
        return ids != null && next.job().replace() && ids.contains(next.id());
    }

    /** The write under way has its answer. */
    void writeEnded() {
        answered += underWay.size();
        underWay = List.of();
        busy = false;
    }

    /** The next order that may start, or null. */
    @Nullable
    WaitingOrder<?> nextOrder() {
        WaitingOrder<?> order = orders.peek();
        if (order == null || order.after() > answered || ordersUnderWay.size() >= ORDERS) {
            return null;
        }
        orders.remove();
        ordersUnderWay.add(order);
        return order;
    }

    void orderEnded(WaitingOrder<?> order) {
        ordersUnderWay.remove(order);
    }

    /** Takes out what was not sent before its deadline. */
    void expire(long nowNs, Consumer<WaitingJob> jobs, Consumer<WaitingOrder<?>> late) {
        WaitingJob job;
        while ((job = queue.peek()) != null && nowNs - job.deadlineNs() >= 0) {
            queue.remove();
            answered++;
            replacing -= job.job().replace() ? 1 : 0;
            jobs.accept(job);
        }
        WaitingOrder<?> order;
        while ((order = orders.peek()) != null && nowNs - order.deadlineNs() >= 0) {
            orders.remove();
            late.accept(order);
        }
    }

    /** Takes out everything: what was not sent, and what was. */
    void abandon(Consumer<WaitingJob> unsent, Consumer<WaitingJob> sent, Consumer<WaitingOrder<?>> late) {
        queue.forEach(unsent);
        queue.clear();
        underWay.forEach(sent);
        orders.forEach(late);
        orders.clear();
        List.copyOf(ordersUnderWay).forEach(late);
    }
}

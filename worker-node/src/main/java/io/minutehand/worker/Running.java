package io.minutehand.worker;

import io.minutehand.core.job.Job;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.topic.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job that this node has: from the pop until Redis was told how it ended. */
final class Running implements Runnable, JobContext {
    private final Shard shard;
    private final HandedJob handed;
    private final HandlerPool pool;
    private final long timeoutNs;

    /** By the settings when it was handed out: a later change of the topic must not leave it half one way, half the other. */
    private final boolean atMostOnce;

    /** nanoTime until which the job is this node's, if no extension is answered. Written by the node's thread. */
    private volatile long deadlineNs;

    private volatile boolean lost;
    private volatile long startedNs;
    private volatile long startedUs;
    private volatile boolean returned;

    /** The thread of the handler while it runs; guarded by this. */
    private @Nullable Thread thread;

    /** Only the node's thread touches these. */
    boolean timedOut;

    /** Whether the handler ignored its interrupt. */
    boolean stuck;

    /** Whether the outcome is decided: what the handler does after that counts for nothing. */
    boolean ended;

    /** Whether Redis knows the job as done although it was not run yet. */
    boolean acked;

    /** Whether it holds a slot. */
    boolean slotted;

    /** nanoTime of the last question for an extension, or of the handout. */
    long extendedNs;

    Running(Shard shard, HandedJob handed, HandlerPool pool, long handedNs, boolean slotted) {
        this.shard = shard;
        this.handed = handed;
        this.pool = pool;
        this.slotted = slotted;
        this.timeoutNs = shard.topic().timeoutNs();
        this.atMostOnce = shard.topic().settings().delivery() == Delivery.AT_MOST_ONCE;
        this.extendedNs = handedNs;
        this.deadlineNs = handedNs + shard.topic().visibilityNs();
    }

    Shard shard() {
        return shard;
    }

    HandedJob handed() {
        return handed;
    }

    Job job() {
        return handed.job();
    }

    boolean atMostOnce() {
        return atMostOnce;
    }

    boolean lost() {
        return lost;
    }

    /** Whether nobody but this node, under this id, can have had the job until now. */
    boolean nobodyElses(String nodeId, long nowNs) {
        return !lost && nowNs - deadlineNs < 0 && handed.receipt().node().equals(nodeId);
    }

    boolean started() {
        return startedNs != 0;
    }

    /** Whether a thread is in the handler now. */
    boolean inHandler() {
        return started() && !returned;
    }

    /** Whether the handler runs, and for longer than it may. */
    boolean timeIsOver(long nowNs) {
        return started() && !returned && nowNs - startedNs >= timeoutNs;
    }

    void extended(long sentNs) {
        deadlineNs = sentNs + shard.topic().visibilityNs();
    }

    /** The job is no longer this node's: the handler is told to stop, or not started, and its outcome counts for nothing. */
    void lose() {
        lost = true;
        interrupt();
    }

    synchronized void interrupt() {
        if (thread != null) {
            thread.interrupt();
        }
    }

    private synchronized void setThread(@Nullable Thread now) {
        thread = now;
        if (now == null) {
            // An interrupt meant for this job must not hit the next one on the same thread.
            Thread.interrupted();
        }
    }

    @Override
    public void run() {
        Throwable thrown = null;
        boolean ran = false;
        setThread(Thread.currentThread());
        try {
            if (!lost) {
                ran = true;
                startedNs = System.nanoTime();
                startedUs = Math.max(shard.clock.nowUs(), job().dueAt().toEpochMilli() * 1000);
                pool.starting(this, startedUs - job().dueAt().toEpochMilli() * 1000);
                pool.call(() -> shard.topic().call().run(job().payload(), this));
            }
        } catch (Throwable failure) {
            // Whatever a handler throws, an Error too, is a failed attempt: the node must outlive it.
            thrown = failure;
        } finally {
            setThread(null);
            returned = true;
            pool.returned(this, ran, thrown);
        }
    }

    long elapsedUs() {
        return (System.nanoTime() - startedNs) / 1000;
    }

    @Override
    public String topic() {
        return job().topic();
    }

    @Override
    public String id() {
        return job().id();
    }

    @Override
    public @Nullable String businessId() {
        return job().businessId();
    }

    @Override
    public Map<String, String> headers() {
        return job().headers();
    }

    @Override
    public int attempt() {
        return job().attempt();
    }

    @Override
    public int delivery() {
        return job().delivery();
    }

    @Override
    public Instant dueAt() {
        return job().dueAt();
    }

    @Override
    public Instant createdAt() {
        return job().createdAt();
    }

    @Override
    public Instant startedAt() {
        return Instant.ofEpochSecond(0, startedUs * 1000);
    }

    @Override
    public Duration lateness() {
        return Duration.between(dueAt(), startedAt());
    }

    @Override
    public Duration remaining() {
        return Duration.ofNanos(Math.max(0, timeoutNs - (System.nanoTime() - startedNs)));
    }

    @Override
    public boolean isStillMine() {
        return !lost && (atMostOnce || System.nanoTime() - deadlineNs < 0);
    }

    @Override
    public String toString() {
        return "topic=" + topic() + " job=" + id() + " business_id=" + OneLine.of(businessId()) + " attempt="
                + attempt() + " delivery=" + delivery();
    }
}

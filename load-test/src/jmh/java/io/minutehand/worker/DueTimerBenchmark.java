package io.minutehand.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The timer of a node, driven by hand: no thread, and a clock that only the benchmark moves. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DueTimerBenchmark {
    /** A power of two: the next delay is a mask away. */
    private static final int DELAYS = 4096;

    /** No delay is longer. */
    private static final int HORIZON_NS = 1_000_000;

    /** Timers that are set: a few for each shard that the node owns. */
    @Param({"8", "1024"})
    public int timers;

    private final int[] delaysNs = new int[DELAYS];
    private final List<DueTimer.Timer> set = new ArrayList<>();
    private DueTimer timer = new DueTimer("benchmark", () -> 0);
    private long nowNs;
    private long fired;
    private int next;

    @Setup
    public void fill() {
        Random random = new Random(1);
        for (int i = 0; i < DELAYS; i++) {
            delaysNs[i] = 1 + random.nextInt(HORIZON_NS);
        }
        timer = new DueTimer("benchmark", () -> nowNs);
        set.clear();
        for (int i = 0; i < timers; i++) {
            DueTimer.Timer one = timer.timer(() -> fired++);
            one.setAt(nowNs + nextDelayNs());
            set.add(one);
        }
    }

    private int nextDelayNs() {
        next = (next + 1) & (DELAYS - 1);
        return delaysNs[next];
    }

    /** A timer that is set is moved, as with each pop of a shard. */
    @Benchmark
    public DueTimer.Timer move() {
        DueTimer.Timer one = set.get(nextDelayNs() % timers);
        one.setAt(nowNs + nextDelayNs());
        return one;
    }

    /** A timer is set for the next nanosecond, the time comes, it fires; all others wait. */
    @Benchmark
    public long fire() {
        DueTimer.Timer one = set.get(nextDelayNs() % timers);
        one.setAt(nowNs + 1);
        nowNs++;
        timer.runOnce();
        one.setAt(nowNs + HORIZON_NS + nextDelayNs());
        return fired;
    }

    /** A task from another thread is taken in and run. */
    @Benchmark
    public long task() {
        timer.execute(() -> fired++);
        timer.runOnce();
        return fired;
    }
}

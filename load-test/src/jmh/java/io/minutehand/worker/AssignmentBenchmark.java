package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

/** Rendezvous hashing: the ranks of all shards of a topic, made anew when a node joins or leaves. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AssignmentBenchmark {
    /** A power of two: the next set of nodes is a mask away. */
    private static final int SETS = 16;

    @Param({"8", "64"})
    public int shards;

    @Param({"3", "50"})
    public int nodes;

    private final List<List<String>> nodeSets = new ArrayList<>();
    private int next;

    @Setup
    public void fill() {
        Random random = new Random(1);
        for (int set = 0; set < SETS; set++) {
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < nodes; i++) {
                ids.add(Long.toString(random.nextLong(1L << 40, 1L << 53)));
            }
            nodeSets.add(List.copyOf(ids));
        }
    }

    @Benchmark
    public Map<ShardId, List<String>> ranks() {
        next = (next + 1) & (SETS - 1);
        return Assignment.ranks("payments.order-timeout", shards, nodeSets.get(next));
    }
}

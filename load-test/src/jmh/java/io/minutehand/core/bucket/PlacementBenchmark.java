package io.minutehand.core.bucket;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** Where a job goes: shard, minute and the names of keys. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PlacementBenchmark {
    /** A power of two: the next id is a mask away. */
    private static final int IDS = 1024;

    private static final int ID_CHARS = 20;
    private static final int SHARDS = 8;
    private static final long NOW_MS = 1_800_000_000_000L;

    private final Keyspace keys = new Keyspace(Keyspace.DEFAULT_NAMESPACE);
    private final String[] ids = new String[IDS];
    private final long[] dueMs = new long[IDS];
    private final ShardId shard = new ShardId("payments.order-timeout", 5);
    private int next;

    @Setup
    public void fill() {
        Random random = new Random(1);
        for (int i = 0; i < IDS; i++) {
            ids[i] = random.ints(ID_CHARS, 0, 36)
                    .mapToObj(digit -> Character.toString(Character.forDigit(digit, 36)))
                    .reduce("", String::concat);
            dueMs[i] = NOW_MS + random.nextInt(3_600_000);
        }
    }

    private int next() {
        next = (next + 1) & (IDS - 1);
        return next;
    }

    @Benchmark
    public int shardOf() {
        return ShardMap.shardOf(ids[next()], SHARDS);
    }

    @Benchmark
    public String memberOf() {
        return ShardMap.memberOf(ids[next()]);
    }

    /** The name of a bucket's key, from the due time. */
    @Benchmark
    public String bucketKey() {
        return keys.bucket(new BucketId(shard, Minutes.label(dueMs[next()], NOW_MS)));
    }

    /** What each call that may touch any job of a shard carries. */
    @Benchmark
    public List<String> recordKeys() {
        return keys.allRecords(shard);
    }

    /** All that is computed for the place of one job. */
    @Benchmark
    public void wholePlace(Blackhole hole) {
        int at = next();
        String id = ids[at];
        ShardId home = new ShardId(shard.topic(), ShardMap.shardOf(id, SHARDS));
        String member = ShardMap.memberOf(id);
        hole.consume(member);
        hole.consume(keys.bucket(new BucketId(home, Minutes.label(dueMs[at], NOW_MS))));
        hole.consume(keys.records(home, member));
        hole.consume(keys.end(home, id));
    }
}

package io.minutehand.core.store;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.misc.CompletableFutureWrapper;

/**
 * The calls of the store with a client that answers at once: what it costs to put a batch into keys and arguments, and to read the reply.
 * Redis, the network and the client's own encoding are not in it. Times are those of a whole batch.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class StoreCallBenchmark {
    private static final int PAYLOAD_BYTES = 100;
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final ShardId SHARD = new ShardId("payments.order-timeout", 5);
    private static final NodeId NODE = new NodeId("7c9e6679-7425-40de-944b-e07fc1f90ae7", 123_456_789_012L);

    @Param({"1", "500"})
    public int jobs;

    /** What the next call is answered. */
    private List<Object> answer = List.of();

    private List<Object> stored = List.of();
    private List<Object> handed = List.of();
    private List<Object> ended = List.of();
    private List<NewJob> batch = List.of();
    private List<HandedJob> running = List.of();
    private BucketId bucket = new BucketId(SHARD, 0);
    private JobStore store = store();

    @Setup
    public void fill() {
        StoredJobs made = new StoredJobs();
        batch = new ArrayList<>(jobs);
        stored = new ArrayList<>(List.of(text("OK"), 1_800_000_000_000_000L));
        handed = new ArrayList<>(List.of(text("OK"), 1_800_000_000_000_000L, -1L, 0L));
        ended = new ArrayList<>(List.of(1_800_000_000_000_000L));
        for (String id : made.ids(jobs)) {
            byte[] payload = made.payload(PAYLOAD_BYTES);
            byte[] digest = JobRecord.digest(null, Map.of(), payload, "after:60000");
            byte[] body = JobRecord.encodeBody(null, Map.of(), payload);
            batch.add(new NewJob(id, made.dueMs(), digest, false, body, 0));
            stored.add(text("CREATED"));
            stored.add(text("-"));
            handed.add(text(StoredJobs.member(id)));
            handed.add(made.record(digest, body));
            ended.add(text("OK"));
        }
        bucket = new BucketId(SHARD, Minutes.of(batch.get(0).dueMs()));
        store = store();
        running = pop().jobs();
        int answered = schedule().items().size();
        int good = ack().size();
        if (answered != jobs || running.size() != jobs || good != jobs) {
            throw new IllegalStateException(
                    "of " + jobs + " jobs " + answered + " stored, " + running.size() + " popped, " + good + " ended");
        }
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private JobStore store() {
        RScript scripts = answering(RScript.class, this::answered);
        RedissonClient client = answering(RedissonClient.class, () -> scripts);
        ScriptRunner runner = new ScriptRunner(client, Duration.ofSeconds(1), new ScriptLibrary(), Runnable::run);
        ServerClock clock = new ServerClock();
        return new JobStore(new Keyspace(Keyspace.DEFAULT_NAMESPACE), shard -> clock, runner);
    }

    private RFuture<Object> answered() {
        return new CompletableFutureWrapper<>(CompletableFuture.completedFuture(answer));
    }

    /** Something of this type that gives the same answer whatever it is asked. */
    private static <T> T answering(Class<T> type, Supplier<?> answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> answer.get()));
    }

    @Benchmark
    public ScheduleOutcome schedule() {
        answer = stored;
        return store.schedule(SHARD, 1, batch).join();
    }

    @Benchmark
    public Handout pop() {
        answer = handed;
        return store.pop(bucket, NODE, 1, jobs, MINUTE).join();
    }

    @Benchmark
    public List<Boolean> ack() {
        answer = ended;
        return store.ack(SHARD, running, MINUTE).join();
    }
}

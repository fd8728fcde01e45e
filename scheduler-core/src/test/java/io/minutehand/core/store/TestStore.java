package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.store.ScriptRunner.Call;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BinaryOperator;

/**
 * The stores over a real Redis, in a namespace of their own, with a server clock that stands still until the test moves it, and a second, plain
 * connection that looks on. One for a test class; {@link #freshShard()} gives each test a shard that nobody used.
 */
final class TestStore implements AutoCloseable {
    /** The server's time when a test begins: 20 s into {@link #START_MINUTE}, so that seconds of drift cross no minute. */
    static final long START_MS = 1_700_000_000_000L;

    static final long START_MINUTE = START_MS / 60_000;

    /** Any time long enough: the tests' leases are told to end, they do not run out. */
    static final Duration LEASE = Duration.ofMinutes(1);

    static final Duration VISIBILITY = Duration.ofSeconds(30);
    static final Duration RETENTION = Duration.ofMinutes(5);

    private static final String EMPTY = """
            for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end
            redis.call('HSET', KEYS[1], 'epoch', '1')""";

    /** Of the first key's slot, so that the script may read it on a Cluster; a clock that was never set stands at the start. */
    private static final String TEST_TIME = """
            (function()
              local time = redis.call('HMGET', '%s:clock:{' .. (KEYS[1]:match('{(.-)}') or KEYS[1]) .. '}', 's', 'us')
              return time[1] and time or { '%d', '0' }
            end)()""";

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final long RUN = ProcessHandle.current().pid();
    private static final long PATIENCE_S = 20;

    final RedisCommands redis;
    final StoreConnection connection;
    final JobStore jobs;
    final LeaseStore leases;
    final ClusterStore cluster;
    final Keyspace keys;
    private final RedisInstance instance;
    private final RedisOptions options;
    private final BinaryOperator<String> edit;
    private final ScriptLibrary library;

    /** Of the client that the nodes belong to. */
    private String clientId;

    private ShardId shard = new ShardId("none", 0);

    private TestStore(RedisInstance instance, RedisOptions options, BinaryOperator<String> edit) {
        this.instance = instance;
        this.redis = instance.connect();
        this.options = options;
        this.edit = edit;
        this.connection = StoreConnection.open(options, edit);
        this.clientId = connection.clientId();
        this.library = new ScriptLibrary(edit);
        this.keys = connection.keys();
        this.jobs = connection.jobs(Runnable::run);
        this.leases = connection.leases(Runnable::run);
        this.cluster = connection.cluster(Runnable::run);
    }

    /** With the shared server, the test's clock and the scripts as they are. */
    static TestStore open() {
        return open((name, text) -> text);
    }

    /** With the shared server, the test's clock and scripts changed by {@code edit}. */
    static TestStore open(BinaryOperator<String> edit) {
        RedisOptions options = options(SharedRedis.get());
        BinaryOperator<String> clock = testClock(options.namespace());
        return new TestStore(SharedRedis.get(), options, (name, text) -> edit.apply(name, clock.apply(name, text)));
    }

    /** With the shared server's own clock. */
    static TestStore onServerTime() {
        return new TestStore(SharedRedis.get(), options(SharedRedis.get()), (name, text) -> text);
    }

    /** With another server and its own clock. */
    static TestStore onServerTime(RedisInstance instance) {
        return new TestStore(instance, options(instance), (name, text) -> text);
    }

    /** With another server, its own clock, and a reply time-out short enough for a test of lost replies. */
    static TestStore impatient(RedisInstance instance) {
        return new TestStore(
                instance, options(instance).withReplyTimeout(Duration.ofMillis(300)), (name, text) -> text);
    }

    /** A connection of another process to the same namespace, with the same scripts and clock. */
    StoreConnection another() {
        return StoreConnection.open(options, edit);
    }

    /** Another process that acts for the same nodes in the same namespace, with its scripts edited once more; see {@link #follow}. */
    TestStore another(BinaryOperator<String> more) {
        TestStore other =
                new TestStore(instance, options, (name, text) -> more.apply(name, this.edit.apply(name, text)));
        other.clientId = clientId;
        other.follow(this);
        return other;
    }

    /** Goes on to the shard that the other one is at. */
    void follow(TestStore other) {
        shard = other.shard;
    }

    /** Options for a server, with a namespace that nobody used. */
    static RedisOptions options(RedisInstance instance) {
        return RedisOptions.of(instance.uri())
                .withNamespace("t" + RUN + "-" + NUMBER.incrementAndGet())
                .withReplyTimeout(Duration.ofSeconds(5));
    }

    /** A Lua expression for the test's time, as TIME would answer it. */
    static String testTime(String namespace) {
        return TEST_TIME.formatted(namespace, START_MS / 1000);
    }

    /** Scripts then read the time from a hash beside their keys instead of from TIME; the rest of lib/clock stays. */
    private static BinaryOperator<String> testClock(String namespace) {
        return (name, text) ->
                name.equals("lib/clock") ? replaced(text, "redis.call('TIME')", testTime(namespace)) : text;
    }

    /** A text with one place changed, which must be there. */
    static String replaced(String text, String from, String to) {
        assertThat(text).contains(from);
        return text.replace(from, to);
    }

    /** A shard of a topic that nobody used, with settings epoch 1, at {@link #START_MS}; the last one goes, or every look would get slower. */
    ShardId freshShard() {
        emptyShard();
        redis.call("DEL", keys.ledger(shard));
        redis.call("DEL", clock());
        shard = new ShardId("topic-" + NUMBER.incrementAndGet(), 0);
        redis.call("HSET", keys.ledger(shard), "epoch", "1");
        now(START_MS);
        return shard;
    }

    /** Deletes all that the shard holds but its epoch; the time stays as it is. */
    void emptyShard() {
        String prefix = keys.namespace() + ":{" + shard + "}:";
        redis.call("EVAL", EMPTY, 1, keys.ledger(shard), prefix + "*");
    }

    /** Where the time of the shard's slot is kept. */
    private String clock() {
        return keys.namespace() + ":clock:{" + shard + "}";
    }

    ShardId shard() {
        return shard;
    }

    /** Sets the server's clock; the store's estimate follows by a read. */
    void now(long ms) {
        nowUs(ms * 1000);
        get(jobs.audit(shard));
    }

    void nowUs(long us) {
        redis.call("HSET", clock(), "s", us / 1_000_000, "us", us % 1_000_000);
    }

    /** A connection to the server that holds a key, for commands that name none. The caller closes it. */
    RedisCommands serverOf(String key) {
        return instance instanceof RedisCluster nodes ? nodes.primaryFor(key).connect() : instance.connect();
    }

    /** The shard as it is now. */
    ShardImage image() {
        return ShardImage.of(redis, keys, shard, clientId);
    }

    /** Makes one change and says what the whole shard shows of it; the ledger must add up afterwards. */
    List<String> changesOf(Runnable act) {
        ShardImage before = image();
        act.run();
        ShardImage after = image();
        assertThat(get(jobs.audit(shard))).as("audit of\n%s", after).isZero();
        return after.since(before);
    }

    /** As {@link #changesOf}, where the test took jobs away by hand, so that they are rightly missed. */
    List<String> changesOfDamaged(long missing, Runnable act) {
        ShardImage before = image();
        act.run();
        ShardImage after = image();
        assertThat(get(jobs.audit(shard))).as("audit of\n%s", after).isEqualTo(missing);
        return after.since(before);
    }

    /** Runs a script by the plain connection: byte strings of the reply as text, numbers as they are. */
    List<Object> run(Call call) {
        List<Object> words = new ArrayList<>(
                List.of("EVAL", library.text(call.script()), call.keys().size()));
        words.addAll(call.keys());
        words.addAll(call.args());
        List<Object> reply = new ArrayList<>();
        for (Object value : (List<?>) redis.call(words.toArray())) {
            reply.add(value instanceof byte[] bytes ? new String(bytes, StandardCharsets.ISO_8859_1) : value);
        }
        return reply;
    }

    /** The node with this number, of this connection. */
    NodeId node(long number) {
        return new NodeId(clientId, number);
    }

    BucketId bucket(long minutesAhead) {
        return new BucketId(shard, START_MINUTE + minutesAhead);
    }

    /** Stores one job with a short body, due {@code afterMs} after {@link #START_MS}. */
    ScheduleOutcome.Item schedule(String id, long afterMs) {
        return schedule(newJob(id, afterMs));
    }

    ScheduleOutcome.Item schedule(NewJob job) {
        ScheduleOutcome outcome = get(jobs.schedule(shard, 1, List.of(job)));
        assertThat(outcome.status()).isEqualTo(ScheduleOutcome.Status.OK);
        return outcome.items().get(0);
    }

    static NewJob newJob(String id, long afterMs) {
        return new NewJob(id, START_MS + afterMs, digest("1"), false, body("body"), 0);
    }

    static NewJob replacement(String id, long afterMs, String digest, long fromMinutesAhead) {
        return new NewJob(id, START_MS + afterMs, digest(digest), true, body("other"), START_MINUTE + fromMinutesAhead);
    }

    static byte[] digest(String name) {
        return Arrays.copyOf(name.getBytes(StandardCharsets.US_ASCII), JobRecord.DIGEST_BYTES);
    }

    static byte[] body(String payload) {
        return JobRecord.encodeBody(null, Map.of(), payload.getBytes(StandardCharsets.UTF_8));
    }

    void claim(long minutesAhead, long node) {
        assertThat(get(leases.claim(bucket(minutesAhead), node(node), LEASE))).isTrue();
    }

    Handout pop(long minutesAhead, long node, long seq, int limit) {
        return get(jobs.pop(bucket(minutesAhead), node(node), seq, limit, VISIBILITY));
    }

    Handout recover(long node, long seq, int limit, String from) {
        return get(jobs.recover(shard, node(node), seq, limit, VISIBILITY, from, 0));
    }

    /** Stores jobs due now and hands them to node 1 by its call 1; listed as asked for. */
    List<HandedJob> inFlight(String... ids) {
        for (String id : ids) {
            schedule(id, 0);
        }
        claim(0, 1);
        List<HandedJob> handed = pop(0, 1, 1, ids.length).jobs();
        assertThat(handed).hasSize(ids.length);
        List<String> order = List.of(ids);
        return handed.stream()
                .sorted(Comparator.comparing(job -> order.indexOf(job.job().id())))
                .toList();
    }

    /** Stores a job due now and makes it a dead letter. */
    void dead(String id) {
        schedule(id, 0);
        claim(0, 9);
        long seq =
                redis.call("HGET", keys.pops(shard, "9"), "seq") instanceof byte[] kept ? ShardImage.number(kept) : 0;
        Handout handout = pop(0, 9, seq + 1, 1);
        assertThat(get(jobs.bury(handout.jobs().get(0), "broken", TopicSettings.defaults())))
                .isPresent();
        get(leases.release(shard, List.of(START_MINUTE), node(9)));
    }

    /** Writes a record of version 2 over one that a test stored: its first byte is the version. */
    byte[] makeNewer(String id) {
        String member = ShardMap.memberOf(id);
        byte[] record = (byte[]) redis.call("HGET", keys.records(shard, member), member);
        record[0] = 2;
        redis.call("HSET", keys.records(shard, member), member, record);
        return record;
    }

    /** Cuts a record to its first bytes, as a hand or a faulty import would. */
    void cut(String id, int bytes) {
        String member = ShardMap.memberOf(id);
        byte[] record = (byte[]) redis.call("HGET", keys.records(shard, member), member);
        redis.call("HSET", keys.records(shard, member), member, Arrays.copyOf(record, bytes));
    }

    /** Takes a record away, as a fault would; whatever names it is an orphan then. */
    void loseRecord(String id) {
        String member = ShardMap.memberOf(id);
        assertThat(redis.number("HDEL", keys.records(shard, member), member)).isOne();
    }

    /** Ends the wait for a reply that every test does. */
    static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new IllegalStateException("no answer in " + PATIENCE_S + " s", e);
        }
    }

    /** A deadline for calls that repeat. */
    static long soon() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    }

    @Override
    public void close() {
        connection.close();
        for (String key : instance.callEach("KEYS", keys.namespace() + ":*")) {
            redis.call("DEL", key);
        }
        redis.close();
    }
}

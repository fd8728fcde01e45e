package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.admin.Audit;
import io.minutehand.core.admin.Finding;
import io.minutehand.core.admin.Finding.Kind;
import io.minutehand.core.admin.ShardAudit;
import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Audits beside eight threads that do everything to the same few hundred jobs. */
class AuditUnderLoadIT {
    private static final long SEED = Long.getLong("minutehand.audit.seed", 20_260_101);
    private static final int AUDITS = Integer.getInteger("minutehand.audit.count", 200);
    private static final int DAMAGES = AUDITS / 8;
    private static final int THREADS = 8;
    private static final int IDS = 300;
    private static final String MOVING = "job-";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration VISIBILITY = Duration.ofMillis(150);
    private static final TopicSettings SETTINGS =
            TopicSettings.defaults().withShards(1).withDeadLimit(40);

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final List<Future<?>> running = new ArrayList<>();
    private final AtomicLong calls = new AtomicLong();
    private TestStore store;
    private Audit audit;
    private volatile boolean stopped;

    @BeforeEach
    void open() {
        store = TestStore.onServerTime();
        store.freshShard();
        audit = new Audit(store.connection);
    }

    @AfterEach
    void close() {
        stopped = true;
        threads.shutdownNow();
        store.close();
    }

    @Test
    void shouldFindNothingInAHealthyShard() throws Exception {
        start(SEED);
        long records = 0;
        int judged = 0;
        for (int i = 0; i < AUDITS; i++) {
            ShardAudit audited = audit.deep(store.shard(), i % 2 == 1, PATIENCE);
            assertThat(audited.findings()).as("audit %d, seed %d", i, SEED).isEmpty();
            assertThat(audited.complete()).isTrue();
            assertThat(audit.quick(store.shard(), PATIENCE).clean()).isTrue();
            records += audited.records();
            judged += audited.unjudged() == 0 ? 1 : 0;
        }
        stop();
        System.out.printf(
                "audits under load: seed=%d audits=%d judged=%d records=%d calls=%d%n",
                SEED, AUDITS, judged, records, calls.get());

        assertThat(records).as("the audits saw jobs").isGreaterThan(AUDITS * 20L);
        assertThat(judged).as("audits whose sum of buckets was proof").isGreaterThan(AUDITS / 2);
        ShardAudit last = audit.deep(store.shard(), false, PATIENCE);
        assertThat(last.clean()).isTrue();
        assertThat(last.unjudged()).isZero();
        assertThat(get(store.jobs.stats(store.shard())).counter("mended")).isZero();
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
    }

    /** Jobs that the load leaves alone: so what is done to one of them is there when the audit comes by, and nothing else is. */
    @Test
    void shouldFindAndMendJustWhatWasDamagedWhileEverythingGoesOn() throws Exception {
        start(SEED + 2);
        Bystanders bystanders = new Bystanders();
        for (int i = 0; i < DAMAGES; i++) {
            Set<Finding> damaged = bystanders.damage(i % Bystanders.KINDS);

            ShardAudit audited = audit.deep(store.shard(), true, PATIENCE);

            assertThat(audited.findings())
                    .as("audit %d, seed %d", i, SEED + 2)
                    .containsExactlyInAnyOrderElementsOf(damaged);
        }
        stop();
        System.out.printf(
                "audits of known damage under load: seed=%d damages=%d calls=%d%n", SEED + 2, DAMAGES, calls.get());

        ShardAudit last = audit.deep(store.shard(), false, PATIENCE);
        assertThat(last.clean()).isTrue();
        assertThat(last.ledger().orphans()).isEqualTo(DAMAGES / Bystanders.KINDS);
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
    }

    @Test
    void shouldMendWhatIsDamagedOfJobsThatMove() throws Exception {
        start(SEED + 1);
        Random random = new Random(SEED);
        int damages = 0;
        for (int i = 0; i < DAMAGES; i++) {
            synchronized (store.redis) {
                damages += damage(random) ? 1 : 0;
            }
            audit.deep(store.shard(), true, PATIENCE);
        }
        stop();
        System.out.printf("audits of any damage under load: seed=%d damages=%d calls=%d%n", SEED, damages, calls.get());

        assertThat(damages).isGreaterThan(DAMAGES / 2);
        audit.deep(store.shard(), true, PATIENCE);
        ShardAudit second = audit.deep(store.shard(), false, PATIENCE);
        // An id that was stored anew after its record was taken away counts twice as accepted: only the ledger knows.
        assertThat(second.counts().keySet()).isSubsetOf(Kind.LEDGER);
        assertThat(ShardInvariants.broken(store.image())).allMatch(broken -> broken.startsWith("accepted "));
    }

    /** Damages jobs of its own, one after the other, each in a bucket that nobody else uses. */
    private final class Bystanders {
        static final int KINDS = 5;
        private static final int NODE = 99;

        private int made;
        private long seq;

        /** Takes one thing away, and says what an audit that mends must find: no more and no less. */
        Set<Finding> damage(int kind) {
            String id = "bystander-" + made;
            long minute = System.currentTimeMillis() / 60_000 + 120 + made++;
            String member = ShardMap.memberOf(id);
            BucketId bucket = new BucketId(store.shard(), minute);
            get(store.jobs.schedule(
                    store.shard(),
                    1,
                    List.of(new NewJob(id, minute * 60_000, TestStore.digest("1"), false, TestStore.body(""), 0))));
            return switch (kind) {
                case 0 -> {
                    take(store.keys.index(store.shard()), Long.toString(minute));
                    yield Set.of(found(Kind.UNLISTED_BUCKET, "minute=" + minute));
                }
                case 1 -> {
                    take(store.keys.bucket(bucket), member);
                    yield Set.of(found(Kind.EMPTY_BUCKET, "minute=" + minute), found(Kind.PENDING_WITHOUT_ENTRY, id));
                }
                case 2 -> {
                    synchronized (store.redis) {
                        store.loseRecord(id);
                    }
                    yield Set.of(found(Kind.ENTRY_WITHOUT_RECORD, id));
                }
                case 3 -> {
                    take(
                            store.keys.inflight(store.shard()),
                            handed(bucket, member).receipt().toString());
                    yield Set.of(found(Kind.IN_FLIGHT_WITHOUT_RECEIPT, id));
                }
                default -> {
                    get(store.jobs.bury(handed(bucket, member), "gave up", SETTINGS));
                    take(store.keys.dead(store.shard()), member);
                    yield Set.of(found(Kind.DEAD_WITHOUT_ENTRY, id));
                }
            };
        }

        /** The job in flight for longer than the test takes. It is made due by hand: in the buckets of the present, others would pop it. */
        private HandedJob handed(BucketId bucket, String member) {
            NodeId node = store.node(NODE);
            synchronized (store.redis) {
                store.redis.call("ZADD", store.keys.bucket(bucket), 0, member);
            }
            assertThat(get(store.leases.claim(bucket, node, PATIENCE))).isTrue();
            return get(store.jobs.pop(bucket, node, ++seq, 1, TestStore.LEASE))
                    .jobs()
                    .get(0);
        }

        private void take(String set, String member) {
            synchronized (store.redis) {
                assertThat(store.redis.number("ZREM", set, member)).isOne();
            }
        }

        private Finding found(Kind kind, String subject) {
            return new Finding(store.shard(), kind, subject, true);
        }
    }

    /** Takes one thing away: a bucket from the index, a receipt, a record, a dead letter or an entry of a bucket. */
    private boolean damage(Random random) {
        String records = store.keys.allRecords(store.shard()).get(random.nextInt(ShardMap.RECORD_HASHES));
        String index = store.keys.index(store.shard());
        List<String> minutes = store.redis.texts("ZRANGE", index, 0, -1);
        return switch (random.nextInt(5)) {
            case 0 -> take(index, minutes, random);
            case 1 -> take(store.keys.inflight(store.shard()), random);
            case 2 -> take(store.keys.dead(store.shard()), random);
            case 3 -> {
                List<String> members = store.redis.texts("HKEYS", records);
                yield !members.isEmpty()
                        && store.redis.number("HDEL", records, members.get(random.nextInt(members.size()))) == 1;
            }
            default ->
                !minutes.isEmpty()
                        && take(
                                store.keys.bucket(new BucketId(
                                        store.shard(), Long.parseLong(minutes.get(random.nextInt(minutes.size()))))),
                                random);
        };
    }

    private boolean take(String set, Random random) {
        return take(set, store.redis.texts("ZRANGE", set, 0, -1), random);
    }

    private boolean take(String set, List<String> members, Random random) {
        return !members.isEmpty() && store.redis.number("ZREM", set, members.get(random.nextInt(members.size()))) == 1;
    }

    private void start(long seed) {
        for (int i = 1; i <= THREADS; i++) {
            int number = i;
            running.add(threads.submit(() -> new Worker(number, new Random(seed * 31 + number)).run()));
        }
    }

    private void stop() throws InterruptedException, ExecutionException {
        stopped = true;
        for (Future<?> worker : running) {
            worker.get();
        }
    }

    /** A node and a producer in one: random calls on ids that all threads share. */
    private final class Worker {
        private final Random random;
        private final NodeId node;
        private final List<HandedJob> handed = new ArrayList<>();
        private long seq;

        Worker(int number, Random random) {
            this.node = store.node(number);
            this.random = random;
        }

        void run() {
            while (!stopped) {
                step();
                calls.incrementAndGet();
            }
        }

        private void step() {
            long now = System.currentTimeMillis();
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> schedule(now);
                case 3, 4, 5 -> drain(now);
                case 6 -> accept(get(store.jobs.recover(store.shard(), node, ++seq, 10, VISIBILITY, "", 0)));
                case 7 -> get(store.jobs.cancel(store.shard(), id(), Duration.ofMillis(50), soon()));
                case 8 -> get(store.jobs.reschedule(store.shard(), id(), now + due(), soon()));
                case 9 -> ofDead(now);
                default -> complete(now);
            }
        }

        private void schedule(long now) {
            List<NewJob> jobs = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                String digest = Integer.toString(random.nextInt(3));
                jobs.add(new NewJob(
                        id(),
                        now + due(),
                        TestStore.digest(digest),
                        random.nextBoolean(),
                        TestStore.body("x".repeat(random.nextInt(300))),
                        (now + due()) / 60_000));
            }
            get(store.jobs.schedule(store.shard(), 1, jobs));
        }

        private void drain(long now) {
            var look = get(store.leases.look(store.shard(), now / 60_000, List.of()));
            for (long minute : look.minutes()) {
                BucketId bucket = new BucketId(store.shard(), minute);
                if (get(store.leases.claim(bucket, node, Duration.ofMillis(200)))) {
                    accept(get(store.jobs.pop(bucket, node, ++seq, 1 + random.nextInt(20), VISIBILITY)));
                    get(store.leases.release(store.shard(), List.of(minute), node));
                }
            }
        }

        private void accept(Handout handout) {
            handed.addAll(handout.jobs());
        }

        /** Ends, returns, prolongs or forgets what was handed out. */
        private void complete(long now) {
            if (handed.isEmpty()) {
                return;
            }
            HandedJob job = handed.remove(random.nextInt(handed.size()));
            switch (random.nextInt(6)) {
                case 0, 1 -> get(store.jobs.ack(store.shard(), List.of(job), Duration.ofMillis(50)));
                case 2 -> get(store.jobs.retry(job, now + due(), random.nextBoolean(), "broken"));
                case 3 -> get(store.jobs.bury(job, "gave up", SETTINGS));
                case 4 -> get(store.jobs.extend(store.shard(), List.of(job.receipt()), VISIBILITY));
                default -> {}
            }
        }

        private void ofDead(long now) {
            List<String> dead;
            synchronized (store.redis) {
                dead = store.redis.texts("ZRANGE", store.keys.dead(store.shard()), 0, 5, "WITHSCORES");
            }
            if (dead.isEmpty() || random.nextInt(3) > 0) {
                return;
            }
            int at = 2 * random.nextInt(dead.size() / 2);
            String id = ShardMap.idOf(dead.get(at));
            if (!id.startsWith(MOVING)) {
                return;
            }
            long diedAt = Long.parseLong(dead.get(at + 1));
            if (random.nextBoolean()) {
                get(store.jobs.redrive(store.shard(), id, diedAt, now + due()));
            } else {
                get(store.jobs.purge(store.shard(), id, diedAt));
            }
        }

        private String id() {
            return MOVING + random.nextInt(IDS);
        }

        /** Most are due at once, some in the minutes to come. */
        private long due() {
            return random.nextInt(3) > 0 ? random.nextInt(400) - 200 : random.nextInt(600_000);
        }
    }
}

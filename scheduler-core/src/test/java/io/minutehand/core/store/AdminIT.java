package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.minutehand.core.admin.Admin;
import io.minutehand.core.admin.Admin.NodeView;
import io.minutehand.core.admin.DeadLetters;
import io.minutehand.core.admin.DeadLetters.DeadLetter;
import io.minutehand.core.admin.DeadLetters.Result;
import io.minutehand.core.admin.DeadLetters.Selector;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.AdminStore.BucketView;
import io.minutehand.core.store.AdminStore.Letter;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class AdminIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final double FAST = 1e6;

    private final TestStore store;
    private final Admin admin;
    private final StoredTopic topic;
    private final DeadLetters letters;

    AdminIT(TestStore store) {
        this.store = store;
        this.admin = new Admin(store.connection, PATIENCE);
        this.topic = new StoredTopic(
                store.shard().topic(), 1, TopicSettings.defaults().withShards(1));
        this.letters = admin.deadLetters(topic);
    }

    @Test
    void shouldShowTopicsAndTheirShards() {
        String name = store.shard().topic();
        assertThat(admin.topic(name)).isEmpty();
        get(store.cluster.declare(name, TopicSettings.defaults().withShards(20), soon()));
        store.schedule("a", 60_000);

        StoredTopic stored = admin.topic(name).orElseThrow();
        assertThat(stored.settings().shards()).isEqualTo(20);
        List<Admin.ShardView> shards = admin.shards(stored);

        assertThat(shards).hasSize(20).extracting(view -> view.shard().shard()).isSorted();
        assertThat(shards.get(0).stats().counter("pending")).isEqualTo(1);
        assertThat(shards.get(1).stats().counter("pending")).isZero();
        assertThat(shards).allMatch(view -> view.server().matches("127\\.0\\.0\\.1:\\d+"));
    }

    @Test
    @Replies("buckets")
    void shouldShowWhoDrainsWhichBucket() {
        store.schedule("a", 0);
        store.schedule("b", 1);
        store.schedule("c", 120_000);
        store.claim(0, 7);
        List<BucketView> views = new ArrayList<>();

        assertThat(admin.buckets(store.shard(), 10, views::add)).isFalse();

        assertThat(views).hasSize(2);
        BucketView held = views.get(0);
        assertThat(held.minute()).isEqualTo(START_MINUTE);
        assertThat(held.jobs()).isEqualTo(2);
        assertThat(held.firstDueMs()).isEqualTo(START_MS);
        assertThat(held.leaseMs()).isBetween(1L, TestStore.LEASE.toMillis());
        assertThat(held.node()).isEqualTo("7");
        assertThat(views.get(1)).isEqualTo(new BucketView(START_MINUTE + 2, 1, START_MS + 120_000, -2, null));
        views.clear();
        assertThat(admin.buckets(store.shard(), 1, views::add))
                .as("there are more")
                .isTrue();
        assertThat(views).hasSize(1);
    }

    @Test
    void shouldShowWhichNodesBeat() throws Exception {
        String quiet = "q" + store.shard().topic();
        String lively = "l" + store.shard().topic();
        get(store.cluster.beat(quiet, true, 0));
        get(store.cluster.beat(lively, true, 0));
        get(store.cluster.describe(lively, Map.of("name", "lively", "topics", "a,b"), Duration.ofMinutes(1)));
        AtomicBoolean stopped = new AtomicBoolean();
        Thread beating = new Thread(() -> {
            while (!stopped.get()) {
                get(store.cluster.beat(lively, false, 0));
            }
        });
        beating.start();
        try {
            Map<String, NodeView> nodes =
                    admin.nodes(Duration.ofMillis(1500)).stream().collect(Collectors.toMap(NodeView::id, view -> view));

            assertThat(nodes.get(lively).lastBeat()).isLessThan(Duration.ofMillis(1500));
            assertThat(nodes.get(lively).name()).isEqualTo("lively");
            assertThat(nodes.get(lively).beats()).isGreaterThan(1);
            assertThat(nodes.get(quiet)).isEqualTo(new NodeView(quiet, 1, null, Map.of()));
        } finally {
            stopped.set(true);
            beating.join();
            get(store.cluster.leave(quiet));
            get(store.cluster.leave(lively));
        }
    }

    @Test
    void shouldActOnSingleJobs() {
        store.inFlight("running");
        store.schedule("waiting", 60_000);

        assertThat(admin.job(topic, "running").orElseThrow().node()).isEqualTo("1");
        assertThat(admin.job(topic, "waiting").orElseThrow().node()).isNull();
        assertThat(admin.job(topic, "unheard-of")).isEmpty();
        assertThat(admin.reschedule(topic, "waiting", Instant.ofEpochMilli(START_MS + 180_000)))
                .isEqualTo(new MoveOutcome(MoveOutcome.Status.MOVED, null));
        assertThat(store.image().line("b:M+3 waiting")).isEqualTo("T+180000");
        assertThat(admin.cancel(topic, "waiting")).isEqualTo(new MoveOutcome(MoveOutcome.Status.CANCELLED, null));
        assertThat(admin.cancel(topic, "running").status()).isEqualTo(MoveOutcome.Status.RUNNING);
        assertThat(admin.job(topic, "waiting").orElseThrow().status().state()).isEqualTo(JobState.CANCELLED);
        assertThat(admin.now(topic, "waiting"))
                .isBetween(Instant.ofEpochMilli(START_MS), Instant.ofEpochMilli(START_MS + 20_000));
        assertThatIllegalArgumentException().isThrownBy(() -> admin.job(topic, "no{id}"));
    }

    @Test
    void shouldFindJobsAndDeadLettersInTheirEarlierHomes() {
        StoredTopic grown =
                new StoredTopic(topic.topic(), 1, TopicSettings.defaults().withShards(8), List.of(1), 0, 0);
        String dead = IntStream.range(0, 100)
                .mapToObj(i -> "dead-" + i)
                .filter(id -> grown.home(id).shard() > 0)
                .findFirst()
                .orElseThrow();
        dead(dead, "broken");
        store.inFlight("running");
        DeadLetters all = admin.deadLetters(grown);

        assertThat(admin.shards(grown)).hasSize(8);
        assertThat(admin.job(grown, dead).orElseThrow().status().state()).isEqualTo(JobState.DEAD);
        assertThat(admin.job(grown, "running").orElseThrow().node()).isEqualTo("1");
        assertThat(admin.cancel(grown, "running").status()).isEqualTo(MoveOutcome.Status.RUNNING);
        assertThat(all.find(dead).orElseThrow().shard()).isEqualTo(store.shard());
        assertThat(all.count(Selector.all())).isEqualTo(1);
        assertThat(all.redrive(Selector.ofId(dead), FAST, PATIENCE)).isEqualTo(new Result(1, 0, true));
        assertThat(admin.cancel(grown, dead).status()).isEqualTo(MoveOutcome.Status.CANCELLED);
    }

    @Test
    @Replies("letters")
    void shouldShowWhyJobsDied() {
        dead("a", "broken \u001b[31m pipe");
        dead("b", "no money");
        store.makeNewer("b");

        List<DeadLetter> all = list(Selector.all());
        assertThat(all).extracting(DeadLetter::id).containsExactly("a", "b");
        assertThat(all.get(0).diedAt()).isEqualTo(Instant.ofEpochMilli(START_MS));
        Letter a = all.get(0).letter();
        assertThat(a.reason()).isEqualTo("broken \u001b[31m pipe");
        assertThat(a.attempt()).isEqualTo(1);
        assertThat(a.dueAt()).isEqualTo(Instant.ofEpochMilli(START_MS));
        assertThat(a.createdAt()).isEqualTo(Instant.ofEpochMilli(START_MS));
        assertThat(a.bytes()).isBetween(50L, 80L);
        assertThat(all.get(1).letter().readable()).isFalse();
        assertThat(letters.find("a")).contains(all.get(0));
        assertThat(letters.find("unheard-of")).isEmpty();
        store.schedule("alive", 0);
        assertThat(letters.find("alive")).isEmpty();
        assertThat(letters.job(all.get(0)).orElseThrow().payload()).asString().isEqualTo("body");
    }

    @Test
    void shouldSelectByIdAndByReason() {
        dead("a", "connection refused");
        dead("b", "no money");
        dead("c", "connection reset");

        assertThat(list(Selector.ofReason("connection")))
                .extracting(DeadLetter::id)
                .containsExactlyInAnyOrder("a", "c");
        assertThat(list(Selector.ofId("b"))).extracting(DeadLetter::id).containsExactly("b");
        assertThat(list(new Selector("b", "connection"))).isEmpty();
        assertThat(letters.count(Selector.all())).isEqualTo(3);
        List<String> first = new ArrayList<>();
        letters.forEach(Selector.all(), letter -> {
            first.add(letter.id());
            return first.size() < 2;
        });
        assertThat(first).hasSize(2);
    }

    @Test
    void shouldRedriveByReason() {
        dead("a", "connection refused");
        dead("b", "no money");
        dead("c", "connection reset");

        assertThat(store.changesOf(() -> assertThat(letters.redrive(Selector.ofReason("connection"), FAST, PATIENCE))
                        .isEqualTo(new Result(2, 0, true))))
                .contains("- dead a", "- dead c", "~ ledger pending = 0 > 2")
                .noneMatch(line -> line.contains("dead b"));
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
        assertThat(letters.redrive(Selector.ofId("a"), FAST, PATIENCE)).isEqualTo(new Result(0, 0, true));
    }

    @Test
    void shouldRedriveWithAnotherPayloadAndKeepTheRest() {
        byte[] body = JobRecord.encodeBody("order 7", Map.of("x", "y"), "old".getBytes(StandardCharsets.UTF_8));
        store.schedule(new NewJob("a", START_MS, TestStore.digest("1"), false, body, 0));
        bury("broken");
        DeadLetter letter = letters.find("a").orElseThrow();

        assertThat(letters.redriveEdited(letter, "new and longer".getBytes(StandardCharsets.UTF_8)))
                .isTrue();
        assertThat(letters.redriveEdited(letter, new byte[0]))
                .as("that death is over")
                .isFalse();

        Job job = admin.job(topic, "a").orElseThrow().status().job();
        assertThat(job.payload()).asString().isEqualTo("new and longer");
        assertThat(job.businessId()).isEqualTo("order 7");
        assertThat(job.headers()).isEqualTo(Map.of("x", "y"));
        assertThat(job.state()).isEqualTo(JobState.PENDING);
        assertThat(job.createdAt().toEpochMilli()).isEqualTo(START_MS);
        assertThat(store.image().line("r a")).contains("digest=3100000000000000", "reason= ");
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> letters.redriveEdited(letter, new byte[768 * 1024 + 1]));
    }

    @Test
    void shouldGoThroughManyLettersOfTheSameMillisecond() {
        kill(1300);

        assertThat(letters.count(Selector.all())).isEqualTo(1300);
        assertThat(list(Selector.all())).extracting(DeadLetter::id).doesNotHaveDuplicates();
        assertThat(letters.purge(Selector.ofReason("odd"), FAST, PATIENCE)).isEqualTo(new Result(650, 0, true));
        assertThat(letters.count(Selector.all())).isEqualTo(650);
        assertThat(letters.redrive(Selector.all(), FAST, PATIENCE)).isEqualTo(new Result(650, 0, true));
        assertThat(get(store.jobs.stats(store.shard())).dead()).isZero();
        assertThat(get(store.jobs.stats(store.shard())).counter("pending")).isEqualTo(650);
        assertThat(get(store.jobs.audit(store.shard()))).isZero();
    }

    @Test
    void shouldKeepToTheRateAndToTheTime() {
        kill(30);
        long startNs = System.nanoTime();
        assertThat(letters.redrive(Selector.ofReason("odd"), 50, PATIENCE)).isEqualTo(new Result(15, 0, true));
        assertThat(System.nanoTime() - startNs)
                .as("15 letters at 50 a second")
                .isGreaterThanOrEqualTo(14 * 20_000_000L);

        Result cut = letters.purge(Selector.all(), 2, Duration.ofMillis(700));
        assertThat(cut.complete()).isFalse();
        assertThat(cut.done()).isBetween(1L, 2L);
        assertThatIllegalArgumentException().isThrownBy(() -> letters.purge(Selector.all(), 0, PATIENCE));
    }

    @Test
    void shouldLeaveAloneWhatDiesAfterItBegan() {
        dead("a", "broken");
        store.redis.call("ZADD", store.keys.dead(store.shard()), START_MS + 3_600_000, ShardMap.memberOf("a"));

        assertThat(letters.redrive(Selector.all(), FAST, PATIENCE)).isEqualTo(new Result(0, 0, true));
    }

    private List<DeadLetter> list(Selector selector) {
        List<DeadLetter> all = new ArrayList<>();
        letters.forEach(selector, all::add);
        return all;
    }

    private void dead(String id, String reason) {
        store.schedule(id, 0);
        bury(reason);
    }

    private void bury(String reason) {
        store.claim(0, 9);
        for (HandedJob job : store.pop(0, 9, nextSeq(), 500).jobs()) {
            get(store.jobs.bury(job, reason, topic.settings()));
        }
        get(store.leases.release(store.shard(), List.of(START_MINUTE), store.node(9)));
    }

    /** Dead letters of one millisecond, half of them with the reason odd, half even. */
    private void kill(int count) {
        for (int odd = 0; odd < 2; odd++) {
            for (int from = odd; from < count; from += 400) {
                List<NewJob> batch = new ArrayList<>();
                for (int i = from; i < Math.min(count, from + 400); i += 2) {
                    batch.add(TestStore.newJob("job-" + i, 0));
                }
                get(store.jobs.schedule(store.shard(), 1, batch));
                bury(odd == 1 ? "odd" : "even");
            }
        }
        assertThat(get(store.jobs.stats(store.shard())).dead()).isEqualTo(count);
    }

    private long nextSeq() {
        return store.redis.call("HGET", store.keys.pops(store.shard(), "9"), "seq") instanceof byte[] kept
                ? ShardImage.number(kept) + 1
                : 1;
    }
}

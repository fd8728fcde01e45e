package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.AuditStore.Head;
import io.minutehand.core.store.AuditStore.Page;
import io.minutehand.core.store.AuditStore.Place;
import io.minutehand.core.store.AuditStore.Recount;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class AuditScriptsIT {
    private final TestStore store;
    private final AuditStore audits;

    AuditScriptsIT(TestStore store) {
        this.store = store;
        this.audits = store.connection.audits(Runnable::run);
    }

    @Test
    @Replies("scan")
    void shouldScanAllMembersOfAPlace() {
        List<String> ids = schedule(1200);

        Set<String> seen = new HashSet<>();
        List<Integer> sizes = new ArrayList<>();
        String cursor = Page.START;
        do {
            Page<String> page = get(audits.scan(Place.bucket(store.shard(), START_MINUTE), cursor, soon()));
            seen.addAll(page.items());
            sizes.add(page.items().size());
            cursor = page.cursor();
        } while (!cursor.equals(Page.START));

        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(
                        ids.stream().map(ShardMap::memberOf).toList());
        assertThat(sizes).hasSizeGreaterThan(1).allMatch(size -> size <= 2 * AuditStore.BATCH);
    }

    @Test
    @Replies("heads")
    void shouldScanTheHeadersOfAllRecords() {
        store.dead("dead");
        List<String> ids = schedule(1200);
        store.schedule("newer", 60_000);
        store.makeNewer("newer");
        store.schedule("cut", 60_000);
        store.cut("cut", 20);

        List<Head> heads = allHeads(20);

        List<String> all = new ArrayList<>(ids);
        all.addAll(List.of("dead", "newer", "cut"));
        assertThat(heads).extracting(Head::id).containsOnlyOnceElementsOf(all).hasSize(all.size());
        assertThat(head(heads, "dead").state()).isEqualTo(JobState.DEAD);
        assertThat(head(heads, "newer").state()).isNull();
        assertThat(head(heads, "cut").state()).isNull();
        assertThat(head(heads, ids.get(0)))
                .isEqualTo(new Head(ShardMap.memberOf(ids.get(0)), JobState.PENDING, START_MINUTE));
    }

    @Test
    @Replies("page")
    void shouldReadTheMinutesOfTheIndexInOrder() {
        store.schedule("b", 120_000);
        store.schedule("a", 0);
        store.schedule("c", 3_600_000);

        assertThat(minutes(0)).containsExactly(START_MINUTE, START_MINUTE + 2, START_MINUTE + 60);
        assertThat(minutes(START_MINUTE + 1)).containsExactly(START_MINUTE + 2, START_MINUTE + 60);
        assertThat(minutes(START_MINUTE + 61)).isEmpty();
    }

    @Test
    @Replies("records OK")
    void shouldFindRecordsInTheirPlaces() {
        seed();

        assertThat(store.changesOf(() -> assertThat(judge(heads(), true)).containsOnly(Verdict.OK)))
                .isEmpty();
        List<Head> before = heads();
        get(store.jobs.reschedule(store.shard(), "waiting", START_MS + 180_000, soon()));
        get(store.jobs.cancel(store.shard(), "later", TestStore.RETENTION, soon()));
        assertThat(store.changesOf(() -> assertThat(judge(before, true))
                        .as("moved and gone meanwhile")
                        .containsOnly(Verdict.OK)))
                .isEmpty();
    }

    @Test
    @Replies("records NO_ENTRY")
    void shouldPutAnEntryBackIntoItsBucket() {
        seed();
        damage("ZREM", bucket(1), ShardMap.memberOf("waiting"));
        store.redis.call("ZREM", store.keys.index(store.shard()), START_MINUTE + 1);

        assertMends(
                "waiting", Verdict.NO_ENTRY, "+ b:M+1 waiting = T+60000", "+ buckets M+1 = M+1", "+ ledger mended = 1");
    }

    @Test
    @Replies("records WRONG_DUE")
    void shouldSetADueTimeRight() {
        seed();
        store.redis.call("ZADD", bucket(1), START_MS, ShardMap.memberOf("waiting"));

        assertMends("waiting", Verdict.WRONG_DUE, "~ b:M+1 waiting = T+0 > T+60000", "+ ledger mended = 1");
    }

    @Test
    @Replies("records NO_RECEIPT")
    void shouldGiveAStrandedJobBackToItsBucket() {
        seed();
        damage("ZREM", store.keys.inflight(store.shard()), "1:1.1:" + ShardMap.memberOf("running"));
        store.redis.call("ZADD", store.keys.inflight(store.shard()), START_MS, "7:1.1:" + ShardMap.memberOf("running"));

        ShardImage before = store.image();
        assertThat(judge(only("running"), false)).containsExactly(Verdict.NO_RECEIPT);
        assertThat(judge(only("running"), true)).containsExactly(Verdict.NO_RECEIPT);

        assertThat(store.image().since(before))
                .containsExactlyInAnyOrder(
                        "+ b:M+0 running = T+0",
                        "+ buckets M+0 = M+0",
                        "+ ledger mended = 1",
                        "~ ledger pending = 2 > 3",
                        "~ r running state=I>P");
        assertThat(judge(only("running"), true)).containsExactly(Verdict.OK);
    }

    @Test
    @Replies("records NOT_LISTED")
    void shouldPutADeadLetterBack() {
        seed();
        damage("ZREM", store.keys.dead(store.shard()), ShardMap.memberOf("dead"));
        store.now(START_MS + 5);

        assertMends("dead", Verdict.NOT_LISTED, "+ dead dead = T+5", "+ ledger mended = 1");
    }

    @Test
    @Replies("records NEWER")
    void shouldLeaveRecordsAloneThatItCannotRead() {
        seed();
        List<Head> before = heads();
        store.makeNewer("waiting");
        store.cut("running", 20);

        assertThat(store.changesOf(() -> assertThat(
                                judge(List.of(head(before, "waiting"), head(before, "running")), true))
                        .containsOnly(Verdict.NEWER)))
                .isEmpty();
    }

    @Test
    @Replies("records UNJUDGED")
    void shouldNotSearchMoreReceiptsThanItMay() {
        seed();
        store.redis.call(
                "EVAL",
                "for i = 1, 10000 do redis.call('ZADD', KEYS[1], i, '1:2.1:0' .. i) end",
                1,
                store.keys.inflight(store.shard()));

        assertThat(judge(only("running"), true)).containsExactly(Verdict.UNJUDGED);
        store.redis.call("ZREM", store.keys.inflight(store.shard()), "1:2.1:01");
        assertThat(judge(only("running"), true)).containsExactly(Verdict.OK);
    }

    @Test
    void shouldJudgeAsManyRecordsAsItCanReadInOneGo() {
        List<Head> heads = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            store.schedule(new NewJob(
                    "large-" + i, START_MS, TestStore.digest("1"), false, TestStore.body("x".repeat(250_000)), 0));
        }
        heads.addAll(heads());

        assertThat(judge(heads, false)).hasSize(5).containsOnly(Verdict.OK);
        assertThat(get(audits.entries(
                        Place.bucket(store.shard(), START_MINUTE),
                        heads.stream().map(Head::member).toList(),
                        false,
                        soon())))
                .hasSize(5)
                .containsOnly(Verdict.OK);
    }

    @Test
    @Replies("entries OK")
    void shouldFindTheRecordsOfEntries() {
        seed();
        List<Place> places = List.of(
                Place.bucket(store.shard(), START_MINUTE + 1),
                Place.inFlight(store.shard()),
                Place.dead(store.shard()));
        assertThat(store.changesOf(() -> places.forEach(
                        place -> assertThat(entries(place, true)).isNotEmpty().containsOnly(Verdict.OK))))
                .isEmpty();
        assertThat(get(audits.entries(places.get(0), List.of(ShardMap.memberOf("unheard-of")), true, soon())))
                .as("gone meanwhile")
                .containsExactly(Verdict.OK);
    }

    @Test
    @Replies("entries NO_RECORD")
    void shouldDropWhatHasNoRecordAndCountItAsOrphan() {
        seed();
        List.of("waiting", "running", "dead").forEach(store::loseRecord);

        assertThat(store.changesOfDamaged(3, () -> {
                    assertThat(entries(Place.bucket(store.shard(), START_MINUTE + 1), true))
                            .containsExactly(Verdict.NO_RECORD);
                    assertThat(entries(Place.inFlight(store.shard()), true)).containsExactly(Verdict.NO_RECORD);
                    assertThat(entries(Place.dead(store.shard()), true)).containsExactly(Verdict.NO_RECORD);
                }))
                .containsExactlyInAnyOrder(
                        "- b:M+1 waiting",
                        "- buckets M+1",
                        "- dead dead",
                        "- inflight 1:1.1:running",
                        "+ ledger mended = 3",
                        "+ ledger orphans = 3",
                        "~ ledger pending = 2 > 1");
    }

    @Test
    @Replies("entries STRAY")
    void shouldDropWhatTheRecordContradicts() {
        seed();
        String waiting = ShardMap.memberOf("waiting");
        String running = ShardMap.memberOf("running");
        ShardImage whole = store.image();
        store.redis.call("ZADD", bucket(1), START_MS, running);
        store.redis.call("ZADD", bucket(2), START_MS, waiting);
        store.redis.call("ZADD", store.keys.index(store.shard()), START_MINUTE + 2, START_MINUTE + 2);
        store.redis.call(
                "ZADD", store.keys.inflight(store.shard()), START_MS, "1:3.1:" + waiting, START_MS, "2:3.1:" + running);
        store.redis.call("ZADD", store.keys.dead(store.shard()), START_MS, waiting);

        assertThat(entries(Place.bucket(store.shard(), START_MINUTE + 1), true))
                .containsExactlyInAnyOrder(Verdict.OK, Verdict.STRAY);
        assertThat(entries(Place.bucket(store.shard(), START_MINUTE + 2), true)).containsExactly(Verdict.STRAY);
        assertThat(entries(Place.inFlight(store.shard()), true))
                .containsExactlyInAnyOrder(Verdict.OK, Verdict.STRAY, Verdict.STRAY);
        assertThat(entries(Place.dead(store.shard()), true)).containsExactlyInAnyOrder(Verdict.OK, Verdict.STRAY);

        assertThat(store.image().since(whole)).containsExactly("+ ledger mended = 5");
    }

    @Test
    @Replies("entries NEWER")
    void shouldLeaveEntriesAloneWhoseRecordItCannotRead() {
        seed();
        store.makeNewer("waiting");

        assertThat(store.changesOf(() -> assertThat(entries(Place.bucket(store.shard(), START_MINUTE + 1), true))
                        .containsExactly(Verdict.NEWER)))
                .isEmpty();
    }

    @Test
    @Replies("listing OK")
    void shouldFindTheIndexRight() {
        seed();

        assertThat(store.changesOf(() -> assertThat(listing(true, 0, 1, 2, 3)).containsOnly(Verdict.OK)))
                .isEmpty();
    }

    @Test
    @Replies("listing EMPTY")
    void shouldDropAnEmptyBucketFromTheIndex() {
        seed();
        ShardImage whole = store.image();
        store.redis.call("ZADD", store.keys.index(store.shard()), START_MINUTE + 3, START_MINUTE + 3);

        assertThat(listing(false, 1, 3)).containsExactly(Verdict.OK, Verdict.EMPTY);
        assertThat(listing(true, 3, 1, 3)).containsExactly(Verdict.EMPTY, Verdict.OK, Verdict.EMPTY);

        assertThat(store.image().since(whole)).containsExactly("+ ledger mended = 1");
    }

    @Test
    @Replies("listing UNLISTED")
    void shouldNameABucketInTheIndexAgain() {
        seed();
        ShardImage whole = store.image();
        damage("ZREM", store.keys.index(store.shard()), Long.toString(START_MINUTE + 1));
        store.redis.call("ZADD", store.keys.index(store.shard()), START_MINUTE + 99, START_MINUTE + 60);

        assertThat(listing(false, 1, 60)).containsOnly(Verdict.UNLISTED);
        assertThat(listing(true, 1, 60)).containsOnly(Verdict.UNLISTED);

        assertThat(store.image().since(whole)).containsExactly("+ ledger mended = 2");
    }

    @Test
    @Replies("recount OK")
    void shouldCountTheWaitingJobsTwice() {
        seed();
        ShardImage whole = store.image();
        store.redis.call("HINCRBY", store.keys.ledger(store.shard()), "pending", 5);
        List<Long> minutes = LongStream.of(START_MINUTE, START_MINUTE + 1, START_MINUTE + 60)
                .boxed()
                .toList();

        assertThat(get(audits.recount(store.shard(), minutes, false, soon()))).contains(new Recount(7, 2));
        assertThat(get(audits.recount(store.shard(), minutes, true, soon()))).contains(new Recount(7, 2));
        assertThat(get(audits.recount(store.shard(), minutes, true, soon()))).contains(new Recount(2, 2));
        assertThat(get(audits.held(store.shard(), minutes.subList(0, 2), soon())))
                .isEqualTo(1);

        assertThat(store.image().since(whole)).containsExactly("+ ledger mended = 1");
    }

    @Test
    @Replies("recount CHANGED")
    void shouldNotCompareASumThatLacksABucket() {
        seed();
        store.redis.call("HINCRBY", store.keys.ledger(store.shard()), "pending", 5);
        ShardImage before = store.image();

        assertThat(get(audits.recount(store.shard(), List.of(START_MINUTE + 1), true, soon())))
                .isEqualTo(Optional.empty());
        assertThat(store.image()).isEqualTo(before);
    }

    /** A job of each state: waiting in minute 1, later in minute 60, running, dead. */
    private void seed() {
        store.dead("dead");
        store.inFlight("running");
        store.schedule("waiting", 60_000);
        store.schedule("later", 3_600_000);
    }

    private List<String> schedule(int count) {
        List<String> ids = new ArrayList<>();
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add("job-" + i);
            batch.add(TestStore.newJob("job-" + i, 0));
            if (batch.size() == 400 || i == count - 1) {
                get(store.jobs.schedule(store.shard(), 1, batch));
                batch.clear();
            }
        }
        return ids;
    }

    private String bucket(long minutesAhead) {
        return store.keys.bucket(store.bucket(minutesAhead));
    }

    private void damage(String command, String key, String member) {
        assertThat(store.redis.number(command, key, member)).isOne();
    }

    private void assertMends(String id, Verdict verdict, String... changes) {
        ShardImage before = store.image();
        assertThat(judge(only(id), false)).containsExactly(verdict);
        assertThat(store.image()).isEqualTo(before);
        assertThat(store.changesOf(() -> {
                    Head head = only(id).get(0);
                    assertThat(judge(List.of(head, head), true))
                            .as("named twice")
                            .containsExactly(verdict, verdict);
                    assertThat(judge(List.of(head), true)).containsExactly(Verdict.OK);
                }))
                .containsExactlyInAnyOrder(changes);
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
    }

    private List<Verdict> judge(List<Head> heads, boolean mend) {
        return get(audits.records(store.shard(), heads, mend, soon()));
    }

    private List<Verdict> entries(Place place, boolean mend) {
        List<String> entries = get(audits.scan(place, Page.START, soon())).items();
        return get(audits.entries(place, entries, mend, soon()));
    }

    private List<Verdict> listing(boolean mend, long... minutesAhead) {
        List<Long> minutes = LongStream.of(minutesAhead)
                .mapToObj(ahead -> START_MINUTE + ahead)
                .toList();
        return get(audits.listing(store.shard(), minutes, mend, soon()));
    }

    private List<Long> minutes(long from) {
        return get(audits.minutes(store.shard(), from, soon()));
    }

    private List<Head> only(String id) {
        return List.of(head(heads(), id));
    }

    private static Head head(List<Head> heads, String id) {
        return heads.stream().filter(head -> head.id().equals(id)).findFirst().orElseThrow();
    }

    private List<Head> heads() {
        return allHeads(AuditStore.BATCH);
    }

    private List<Head> allHeads(int count) {
        List<Head> heads = new ArrayList<>();
        for (int hash = 0; hash < ShardMap.RECORD_HASHES; hash++) {
            String cursor = Page.START;
            do {
                Page<Head> page = get(audits.heads(store.shard(), hash, cursor, count, soon()));
                heads.addAll(page.items());
                cursor = page.cursor();
            } while (!cursor.equals(Page.START));
        }
        return heads;
    }
}

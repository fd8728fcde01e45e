package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.admin.Audit;
import io.minutehand.core.admin.Finding;
import io.minutehand.core.admin.Finding.Kind;
import io.minutehand.core.admin.ShardAudit;
import io.minutehand.core.bucket.ShardMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever single thing is taken away by hand, the deep audit finds it, and mends what can be mended. */
@ExtendWith(SharedTestStore.class)
class AuditIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final TestStore store;
    private final Audit audit;

    AuditIT(TestStore store) {
        this.store = store;
        this.audit = new Audit(store.connection);
    }

    private interface Act {
        void on(TestStore store);
    }

    /** Damage by hand, what an audit finds that mends nothing, and about what one that mends says something. */
    enum Damage {
        BUCKET_FROM_THE_INDEX(
                store -> store.redis.call("ZREM", index(store), START_MINUTE + 1),
                Set.of(Kind.UNLISTED_BUCKET),
                "minute=" + (START_MINUTE + 1)),
        EMPTY_BUCKET_IN_THE_INDEX(
                store -> store.redis.call("ZADD", index(store), START_MINUTE + 3, START_MINUTE + 3),
                Set.of(Kind.EMPTY_BUCKET),
                "minute=" + (START_MINUTE + 3)),
        WHOLE_INDEX(
                store -> store.redis.call("DEL", index(store)),
                Set.of(Kind.UNLISTED_BUCKET),
                "minute=" + (START_MINUTE + 1),
                "minute=" + (START_MINUTE + 60)),
        RECEIPT(
                store -> store.redis.call("ZREM", inflight(store), "1:1.1:" + member("running")),
                Set.of(Kind.IN_FLIGHT_WITHOUT_RECEIPT, Kind.LEDGER),
                "running"),
        RECORD_OF_A_WAITING_JOB(store -> store.loseRecord("waiting"), Set.of(Kind.ENTRY_WITHOUT_RECORD), "waiting"),
        RECORD_OF_A_RUNNING_JOB(store -> store.loseRecord("running"), Set.of(Kind.RECEIPT_WITHOUT_RECORD), "running"),
        RECORD_OF_A_DEAD_JOB(store -> store.loseRecord("dead"), Set.of(Kind.DEAD_ENTRY_WITHOUT_RECORD), "dead"),
        DEAD_LETTER(
                store -> store.redis.call("ZREM", store.keys.dead(store.shard()), member("dead")),
                Set.of(Kind.DEAD_WITHOUT_ENTRY, Kind.LEDGER),
                "dead"),
        BUCKET_ENTRY(
                store -> store.redis.call("ZREM", bucket(store, 1), member("waiting")),
                Set.of(Kind.PENDING_WITHOUT_ENTRY, Kind.PENDING_COUNTER),
                "waiting"),
        LAST_BUCKET_ENTRY(
                store -> store.redis.call("ZREM", bucket(store, 60), member("later")),
                Set.of(Kind.PENDING_WITHOUT_ENTRY, Kind.EMPTY_BUCKET, Kind.PENDING_COUNTER),
                "minute=" + (START_MINUTE + 60),
                "later"),
        WHOLE_BUCKET(
                store -> store.redis.call("DEL", bucket(store, 1)),
                Set.of(Kind.PENDING_WITHOUT_ENTRY, Kind.EMPTY_BUCKET, Kind.PENDING_COUNTER),
                "minute=" + (START_MINUTE + 1),
                "waiting",
                "beside"),
        ANOTHER_DUE_TIME(
                store -> store.redis.call("ZADD", bucket(store, 1), START_MS, member("waiting")),
                Set.of(Kind.WRONG_DUE),
                "waiting"),
        ENTRY_OF_A_RUNNING_JOB(
                store -> store.redis.call("ZADD", bucket(store, 1), START_MS, member("running")),
                Set.of(Kind.STRAY_ENTRY, Kind.PENDING_COUNTER),
                "running"),
        ENTRY_OF_A_CANCELLED_JOB(
                store -> {
                    store.schedule("ended", 0);
                    get(store.jobs.cancel(store.shard(), "ended", TestStore.RETENTION, TestStore.soon()));
                    store.redis.call("ZADD", bucket(store, 1), START_MS, member("ended"));
                },
                Set.of(Kind.ENTRY_WITHOUT_RECORD, Kind.PENDING_COUNTER),
                "ended",
                "counter=2 held=3"),
        RECEIPT_OF_A_WAITING_JOB(
                store -> store.redis.call("ZADD", inflight(store), START_MS, "1:1.1:" + member("waiting")),
                Set.of(Kind.STRAY_RECEIPT, Kind.LEDGER),
                "waiting"),
        DEAD_LETTER_OF_A_WAITING_JOB(
                store -> store.redis.call("ZADD", store.keys.dead(store.shard()), START_MS, member("waiting")),
                Set.of(Kind.STRAY_DEAD_ENTRY, Kind.LEDGER),
                "waiting"),
        COUNTER_OF_PENDING_JOBS(
                store -> store.redis.call("HINCRBY", ledger(store), "pending", 7),
                Set.of(Kind.PENDING_COUNTER, Kind.LEDGER),
                "counter=10 held=3");

        private final Act act;
        private final Set<Kind> kinds;
        private final List<String> subjects;

        Damage(Act act, Set<Kind> kinds, String... subjects) {
            this.act = act;
            this.kinds = kinds;
            this.subjects = List.of(subjects);
        }

        private static String index(TestStore store) {
            return store.keys.index(store.shard());
        }

        private static String inflight(TestStore store) {
            return store.keys.inflight(store.shard());
        }

        private static String ledger(TestStore store) {
            return store.keys.ledger(store.shard());
        }

        private static String bucket(TestStore store, long minutesAhead) {
            return store.keys.bucket(store.bucket(minutesAhead));
        }

        private static String member(String id) {
            return ShardMap.memberOf(id);
        }
    }

    @ParameterizedTest
    @EnumSource(Damage.class)
    void shouldFindAndMendWhatWasDoneByHand(Damage damage) {
        seed();
        assertThat(deep(false).clean()).isTrue();
        damage.act.on(store);
        ShardImage damaged = store.image();

        ShardAudit found = deep(false);

        assertThat(found.counts().keySet()).isEqualTo(damage.kinds);
        assertThat(found.repaired()).isZero();
        assertThat(store.image()).as("an audit that mends nothing").isEqualTo(damaged);

        ShardAudit mended = deep(true);

        assertThat(mended.findings()).extracting(Finding::subject).containsExactlyInAnyOrderElementsOf(damage.subjects);
        assertThat(mended.findings()).allMatch(Finding::repaired);
        assertThat(mended.open()).isZero();
        assertThat(mended.ledger().difference()).isZero();
        assertThat(deep(false).clean()).as("a second audit").isTrue();
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
        allRun();
    }

    @Test
    void shouldFindDamageOfManyKindsAtOnceAndMendIt() {
        seed();
        Set<Damage> damages = EnumSet.of(
                Damage.BUCKET_FROM_THE_INDEX,
                Damage.EMPTY_BUCKET_IN_THE_INDEX,
                Damage.RECEIPT,
                Damage.RECORD_OF_A_DEAD_JOB,
                Damage.LAST_BUCKET_ENTRY,
                Damage.ANOTHER_DUE_TIME,
                Damage.DEAD_LETTER_OF_A_WAITING_JOB,
                Damage.COUNTER_OF_PENDING_JOBS);
        damages.forEach(damage -> damage.act.on(store));

        ShardAudit mended = deep(true);

        assertThat(mended.counts().keySet())
                .containsExactlyInAnyOrder(
                        Kind.UNLISTED_BUCKET,
                        Kind.EMPTY_BUCKET,
                        Kind.IN_FLIGHT_WITHOUT_RECEIPT,
                        Kind.DEAD_ENTRY_WITHOUT_RECORD,
                        Kind.PENDING_WITHOUT_ENTRY,
                        Kind.WRONG_DUE,
                        Kind.STRAY_DEAD_ENTRY,
                        Kind.PENDING_COUNTER);
        assertThat(mended.open()).isZero();
        assertThat(mended.ledger().orphans()).isEqualTo(1);
        assertThat(deep(false).findings()).as("a second audit").isEmpty();
        allRun();
    }

    @Test
    void shouldTellOfJobsThatVanishedWithoutATrace() {
        seed();
        store.loseRecord("waiting");
        store.redis.call("ZREM", store.keys.bucket(store.bucket(1)), ShardMap.memberOf("waiting"));

        assertThat(deep(true).counts()).containsOnlyKeys(Kind.PENDING_COUNTER, Kind.LEDGER);

        ShardAudit second = deep(true);
        assertThat(second.findings()).containsExactly(new Finding(store.shard(), Kind.LEDGER, "difference=1", false));
        assertThat(second.open()).isEqualTo(1);
        assertThat(audit.quick(store.shard(), PATIENCE).findings()).isEqualTo(second.findings());
    }

    @Test
    void shouldCountOrphansApartFromTheDifference() {
        seed();
        store.loseRecord("waiting");
        deep(true);

        ShardAudit quick = audit.quick(store.shard(), PATIENCE);
        assertThat(quick.clean()).isTrue();
        assertThat(quick.ledger()).isEqualTo(new LedgerState(0, 2, 1, 1, 1, true));
    }

    @Test
    void shouldCountRecordsThatItCannotReadAndLeaveThemAlone() {
        seed();
        store.makeNewer("waiting");
        store.cut("later", 20);
        ShardImage before = store.image();

        ShardAudit audited = deep(true);

        assertThat(audited.unreadable()).isEqualTo(2);
        assertThat(audited.records()).isEqualTo(5);
        assertThat(audited.clean()).isTrue();
        assertThat(store.image()).isEqualTo(before);
    }

    @Test
    void shouldTellOfThingsThatNoScriptWrites() {
        seed();
        store.redis.call("HSET", store.keys.records(store.shard(), "0"), "zzz", "?");
        store.redis.call("ZADD", store.keys.bucket(store.bucket(1)), START_MS, "not a member");
        store.redis.call("ZADD", store.keys.inflight(store.shard()), START_MS, "no receipt");

        ShardAudit audited = deep(true);

        assertThat(audited.counts().get(Kind.MALFORMED)).isEqualTo(new ShardAudit.Count(3, 0));
    }

    @Test
    void shouldSayThatCountersOfAShardThatIsNotDeclaredStartAnew() {
        store.redis.call("DEL", store.keys.ledger(store.shard()));

        assertThat(audit.quick(store.shard(), PATIENCE).ledger().declared()).isFalse();
        ShardAudit audited = deep(false);
        assertThat(audited.ledger().declared()).isFalse();
        assertThat(audited.clean()).isTrue();
        get(store.cluster.epoch(store.shard(), 1, TestStore.soon()));
        assertThat(deep(false).ledger().declared()).isTrue();
    }

    @Test
    void shouldAuditMoreThanOnePageOfEverything() {
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < 2500; i++) {
            batch.add(TestStore.newJob("job-" + i, 60_000L * (i % 700)));
            if (batch.size() == 500) {
                get(store.jobs.schedule(store.shard(), 1, batch));
                batch.clear();
            }
        }
        assertThat(deep(false).records()).isEqualTo(2500);
        assertThat(deep(false).clean()).isTrue();
        List<Long> gone = List.of(START_MINUTE + 3, START_MINUTE + 650);
        gone.forEach(minute -> store.redis.call("ZREM", store.keys.index(store.shard()), minute));
        for (int i = 100; i < 2500; i += 400) {
            store.redis.call("ZREM", store.keys.bucket(store.bucket(i % 700)), ShardMap.memberOf("job-" + i));
        }

        ShardAudit mended = deep(true);

        assertThat(mended.findings().stream()
                        .filter(Finding::repaired)
                        .map(Finding::subject)
                        .collect(Collectors.toSet()))
                .contains("job-100", "job-500", "job-900", "job-1300", "job-1700", "job-2100")
                .contains("minute=" + gone.get(0), "minute=" + gone.get(1));
        assertThat(deep(false).clean()).isTrue();
    }

    @Test
    void shouldCountJobsOfMoreBucketsThanOneCallMayTouch() {
        for (int i = 0; i < 3200; i += 400) {
            List<NewJob> batch = new ArrayList<>();
            for (int j = i; j < i + 400; j++) {
                batch.add(TestStore.newJob("job-" + j, 60_000L * j));
            }
            get(store.jobs.schedule(store.shard(), 1, batch));
        }
        assertThat(deep(true).clean()).isTrue();
        store.redis.call("HINCRBY", store.keys.ledger(store.shard()), "pending", 2);
        store.redis.call("ZREM", store.keys.index(store.shard()), START_MINUTE + 3);

        ShardAudit audited = deep(false);

        assertThat(audited.counts()).containsOnlyKeys(Kind.UNLISTED_BUCKET, Kind.PENDING_COUNTER, Kind.LEDGER);
        assertThat(audited.findings())
                .contains(new Finding(store.shard(), Kind.PENDING_COUNTER, "counter=3202 held=3200", false));
    }

    @Test
    void shouldKeepTheFirstFindingsAndCountAll() {
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < 1100; i++) {
            batch.add(TestStore.newJob("job-" + i, 0));
            if (batch.size() == 100) {
                get(store.jobs.schedule(store.shard(), 1, batch));
                batch.clear();
            }
        }
        store.redis.call("DEL", store.keys.bucket(store.bucket(0)));

        ShardAudit mended = deep(true);

        assertThat(mended.findings()).hasSize(ShardAudit.FINDINGS);
        assertThat(mended.counts()).containsEntry(Kind.PENDING_WITHOUT_ENTRY, new ShardAudit.Count(1100, 1100));
        assertThat(deep(false).clean()).isTrue();
    }

    @Test
    void shouldSayThatItDidNotComeToItsEnd() {
        seed();

        ShardAudit audited = audit.deep(store.shard(), false, Duration.ZERO);

        assertThat(audited.complete()).isFalse();
        assertThat(audited.records()).isZero();
    }

    private ShardAudit deep(boolean repair) {
        ShardAudit audited = audit.deep(store.shard(), repair, PATIENCE);
        assertThat(audited.complete()).isTrue();
        assertThat(audited.unjudged()).isZero();
        return audited;
    }

    /** Two jobs that wait for minute 1, one for minute 60, one in flight, one dead. */
    private void seed() {
        store.dead("dead");
        store.inFlight("running");
        store.schedule("waiting", 60_000);
        store.schedule("beside", 60_500);
        store.schedule("later", 3_600_000);
    }

    /** Nothing is stuck: whatever has a record runs when it is due, or is a dead letter. */
    private void allRun() {
        store.now(START_MS + 3_600_000 + 30_000);
        Set<String> left = left();
        long seq = 10;
        List<Long> minutes = get(store.leases.look(store.shard(), START_MINUTE + 61, List.of()))
                .minutes();
        if (!minutes.isEmpty()) {
            get(store.leases.breakLeases(store.shard(), minutes, "1"));
        }
        for (long minute : minutes) {
            long ahead = minute - START_MINUTE;
            store.claim(ahead, 3);
            PopIT.ids(store.pop(ahead, 3, seq++, 100)).forEach(left::remove);
        }
        PopIT.ids(store.recover(4, seq, 100, "")).forEach(left::remove);
        left.remove("dead");
        assertThat(left).as("jobs that nobody gets").isEmpty();
        store.now(START_MS);
    }

    private Set<String> left() {
        ShardImage image = store.image();
        return image.storedKeys().stream()
                .filter(key -> key.startsWith("r:"))
                .flatMap(key -> image.stored(key).keySet().stream())
                .map(ShardMap::idOf)
                .collect(Collectors.toSet());
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.digest;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.newJob;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.admin.Audit;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.Limits;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(SharedTestStore.class)
class PopIT {
    private static final Handout FENCED = new Handout(Handout.Status.FENCED, -1, 0, List.of());
    private static final Handout OLD = new Handout(Handout.Status.OLD, -1, 0, List.of());

    private final TestStore store;

    PopIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("pop OK")
    void shouldHandOutDueJobsInTheirOrder() {
        store.schedule("second", -1);
        store.schedule("first", -2);
        store.schedule("third", 0);
        store.schedule("early", 1);
        store.claim(0, 1);
        List<Handout> handouts = new ArrayList<>();

        List<String> changes = store.changesOf(() -> handouts.add(store.pop(0, 1, 1, 2)));

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "- b:M+0 first",
                        "- b:M+0 second",
                        "+ inflight 1:1.1:first = T+30000",
                        "+ inflight 1:1.1:second = T+30000",
                        "~ ledger pending = 4 > 2",
                        "+ pop:1 receipts = 1:1.1:first,1:1.1:second",
                        "+ pop:1 seq = 1",
                        "+ pop:1 ttl = 1min",
                        "~ r first state=P>I delivery=0>1",
                        "~ r second state=P>I delivery=0>1");
        Handout handout = handouts.get(0);
        assertThat(ids(handout)).containsExactly("first", "second");
        assertThat(handout.next()).isEqualTo(START_MS);
        assertThat(handout.skipped()).isZero();
        HandedJob first = handout.jobs().get(0);
        assertThat(first.receipt()).hasToString("1:1.1:" + ShardMap.memberOf("first"));
        assertThat(first.digest()).isEqualTo(digest("1"));
        assertThat(first.job().state()).isEqualTo(JobState.IN_FLIGHT);
        assertThat(first.job().attempt()).isEqualTo(1);
        assertThat(first.job().delivery()).isEqualTo(1);
        assertThat(first.job().payload()).asString().isEqualTo("body");

        Handout rest = store.pop(0, 1, 2, 10);

        assertThat(ids(rest)).containsExactly("third");
        assertThat(rest.next()).isEqualTo(START_MS + 1);
    }

    @Test
    void shouldNotHandOutAJobAMicrosecondBeforeItsTime() {
        store.schedule("a", 1000);
        store.claim(0, 1);

        store.nowUs((START_MS + 1000) * 1000 - 1);
        assertThat(store.pop(0, 1, 1, 10)).isEqualTo(new Handout(Handout.Status.OK, START_MS + 1000, 0, List.of()));

        store.nowUs((START_MS + 1000) * 1000);
        assertThat(ids(store.pop(0, 1, 2, 10))).containsExactly("a");
    }

    @Test
    void shouldTakeAnEmptiedBucketOffTheIndex() {
        store.schedule("a", 0);
        store.schedule("b", 60_000);
        store.claim(0, 1);

        List<String> changes =
                store.changesOf(() -> assertThat(store.pop(0, 1, 1, 10).next()).isEqualTo(-1));

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "- b:M+0 a",
                        "- buckets M+0",
                        "+ inflight 1:1.1:a = T+30000",
                        "~ ledger pending = 2 > 1",
                        "+ pop:1 receipts = 1:1.1:a",
                        "+ pop:1 seq = 1",
                        "+ pop:1 ttl = 1min",
                        "~ r a state=P>I delivery=0>1");
    }

    @Test
    @Replies("pop FENCED")
    void shouldHandOutNothingWithoutTheLease() {
        store.schedule("a", 0);
        assertThat(store.changesOf(() -> assertThat(store.pop(0, 1, 1, 10)).isEqualTo(FENCED)))
                .as("free")
                .containsExactly("+ pop:1 fenced = 1", "+ pop:1 ttl = 1min");
        store.claim(0, 2);
        store.claim(1, 1);
        assertThat(store.changesOf(() -> assertThat(store.pop(0, 1, 2, 10)).isEqualTo(FENCED)))
                .as("another's")
                .containsExactly("~ pop:1 fenced = 1 > 2");
        get(store.leases.breakLeases(store.shard(), List.of(START_MINUTE), "2"));
        store.claim(0, 1);

        assertThat(store.changesOf(() -> assertThat(store.pop(0, 1, 2, 10)).isEqualTo(FENCED)))
                .as("a late twin of the refused call")
                .isEmpty();
        assertThat(store.changesOf(() -> assertThat(store.pop(0, 1, 1, 10)).isEqualTo(OLD)))
                .as("one of the call before")
                .isEmpty();
        assertThat(store.changesOf(() -> assertThat(store.recover(1, 2, 10, "")).isEqualTo(OLD)))
                .as("a recovery by a used number")
                .isEmpty();
        assertThat(ids(store.pop(0, 1, 3, 10))).containsExactly("a");
    }

    @Test
    @Replies("pop OLD")
    void shouldIgnoreACallThatALaterOneOvertook() {
        store.schedule("a", 0);
        store.schedule("b", 0);
        store.claim(0, 1);
        store.pop(0, 1, 2, 1);

        assertThat(store.changesOf(() -> assertThat(store.pop(0, 1, 1, 10)).isEqualTo(OLD)))
                .isEmpty();
    }

    @Test
    void shouldGiveALostReplyAgainEvenWithoutTheLease() {
        for (String id : List.of("a", "b", "c", "d", "left")) {
            store.schedule(id, 0);
        }
        store.claim(0, 1);
        Handout lost = store.pop(0, 1, 1, 4);
        assertThat(store.changesOf(
                        () -> assertThat(same(store.pop(0, 1, 1, 4), lost)).isTrue()))
                .isEmpty();
        get(store.leases.release(store.shard(), List.of(START_MINUTE), store.node(1)));
        store.now(START_MS + 5000);

        assertThat(store.changesOf(
                        () -> assertThat(same(store.pop(0, 1, 1, 4), lost)).isTrue()))
                .isEmpty();
    }

    @Test
    void shouldGiveOnlyThoseAgainThatAreStillInFlightUnderTheirReceipts() {
        List<HandedJob> jobs = store.inFlight("a", "b", "c", "d");
        get(store.jobs.ack(store.shard(), List.of(jobs.get(0)), RETENTION));
        get(store.jobs.bury(jobs.get(1), "broken", TopicSettings.defaults()));
        get(store.jobs.retry(jobs.get(2), START_MS, false, ""));
        get(store.leases.release(store.shard(), List.of(START_MINUTE), store.node(1)));
        store.claim(0, 2);
        assertThat(ids(store.pop(0, 2, 1, 1))).containsExactly("c");

        assertThat(store.changesOf(() -> assertThat(ids(store.pop(0, 1, 1, 4))).containsExactly("d")))
                .isEmpty();
    }

    @Test
    void shouldNumberTheCallsOfEachNodeByItself() {
        store.schedule("a", 0);
        store.schedule("b", 0);
        store.claim(0, 1);
        store.pop(0, 1, 7, 1);
        get(store.leases.release(store.shard(), List.of(START_MINUTE), store.node(1)));
        store.claim(0, 2);

        assertThat(ids(store.pop(0, 2, 1, 1))).containsExactly("b");
        assertThat(ids(store.pop(0, 1, 7, 1))).containsExactly("a");
    }

    @Test
    void shouldAnswerARepeatOfAnEmptyHandoutByNothingAlthoughJobsAreDueNow() {
        store.schedule("a", 1000);
        store.claim(0, 1);
        store.pop(0, 1, 1, 10);
        store.now(START_MS + 1000);

        assertThat(store.changesOf(() -> assertThat(store.pop(0, 1, 1, 10))
                        .isEqualTo(new Handout(Handout.Status.OK, START_MS + 1000, 0, List.of()))))
                .isEmpty();
    }

    @Test
    void shouldDropAnEntryWhoseRecordIsLostAndCountIt() {
        store.schedule("lost", 0);
        store.schedule("kept", 0);
        store.claim(0, 1);
        store.loseRecord("lost");

        List<String> changes = store.changesOfDamaged(
                1, () -> assertThat(ids(store.pop(0, 1, 1, 10))).containsExactly("kept"));

        assertThat(changes)
                .contains("- b:M+0 lost", "- buckets M+0", "+ ledger orphans = 1", "~ ledger pending = 2 > 0")
                .contains("+ inflight 1:1.1:kept = T+30000", "+ pop:1 receipts = 1:1.1:kept");
    }

    /** What became of a job before an entry with its name came into a bucket by hand. */
    enum Fate {
        RUNNING(store -> store.inFlight("a"), true),
        DEAD(store -> store.dead("a"), true),
        WAITING_ELSEWHERE(store -> store.schedule("a", 120_000), true),
        DONE(store -> get(store.jobs.ack(store.shard(), store.inFlight("a"), RETENTION)), false),
        CANCELLED(
                store -> {
                    store.schedule("a", 0);
                    get(store.jobs.cancel(store.shard(), "a", RETENTION, TestStore.soon()));
                },
                false);

        private final Consumer<TestStore> act;
        private final boolean recorded;

        Fate(Consumer<TestStore> act, boolean recorded) {
            this.act = act;
            this.recorded = recorded;
        }
    }

    @ParameterizedTest
    @EnumSource(Fate.class)
    void shouldDropAnEntryOfAJobThatDoesNotWaitThere(Fate fate) {
        fate.act.accept(store);
        store.schedule("beside", 60_000);
        store.schedule("later", 180_000);
        store.redis.call("ZADD", store.keys.bucket(store.bucket(1)), START_MS, ShardMap.memberOf("a"));
        store.now(START_MS + 60_000);
        store.claim(1, 5);
        String pending = store.image().line("ledger pending");

        List<String> changes = store.changesOfDamaged(
                fate.recorded ? 0 : 1,
                () -> assertThat(ids(store.pop(1, 5, 1, 10))).containsExactly("beside"));

        long left = Long.parseLong(pending) - (fate.recorded ? 1 : 2);
        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "- b:M+1 a",
                        "- b:M+1 beside",
                        "- buckets M+1",
                        "+ inflight 1:5.1:beside = T+90000",
                        fate.recorded ? "+ ledger mended = 1" : "+ ledger orphans = 1",
                        "~ ledger pending = " + pending + " > " + left,
                        "+ pop:5 receipts = 1:5.1:beside",
                        "+ pop:5 seq = 1",
                        "+ pop:5 ttl = 1min",
                        "~ r beside state=P>I delivery=0>1");
        if (!fate.recorded) {
            // Without a record nobody can tell that the job had ended: it counts as lost until the deep audit counts
            // all.
            new Audit(store.connection).deep(store.shard(), true, Duration.ofSeconds(20));
            assertThat(store.image().line("ledger orphans")).isEqualTo("0");
        }
        assertThat(get(store.jobs.audit(store.shard()))).isZero();
        assertThat(ShardInvariants.broken(store.image())).isEmpty();
    }

    @Test
    void shouldPutOffARecordOfANewerVersionAndLeaveItAlone() {
        store.schedule("newer", -5);
        store.schedule("a", 0);
        store.schedule("later", 15_000);
        store.claim(0, 1);
        store.makeNewer("newer");
        List<Handout> handouts = new ArrayList<>();

        List<String> changes = store.changesOf(() -> handouts.add(store.pop(0, 1, 1, 10)));

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "- b:M+0 a",
                        "~ b:M+0 newer = T-5 > T+10000",
                        "+ inflight 1:1.1:a = T+30000",
                        "~ ledger pending = 3 > 2",
                        "+ pop:1 receipts = 1:1.1:a",
                        "+ pop:1 seq = 1",
                        "+ pop:1 ttl = 1min",
                        "~ r a state=P>I delivery=0>1");
        assertThat(handouts.get(0).skipped()).isEqualTo(1);
        assertThat(handouts.get(0).next()).isEqualTo(START_MS + 10_000);
        assertThat(ids(handouts.get(0))).containsExactly("a");
    }

    @Test
    void shouldSayWhenToComeAgainIfOnlyNewerRecordsAreLeft() {
        store.schedule("newer", 0);
        store.claim(0, 1);
        store.makeNewer("newer");

        assertThat(store.pop(0, 1, 1, 10)).isEqualTo(new Handout(Handout.Status.OK, START_MS + 10_000, 1, List.of()));
        assertThat(store.image().line("buckets M+0"))
                .as("the bucket is not empty")
                .isEqualTo("M+0");
    }

    @Test
    void shouldHandOutADamagedBodyAsWhatItIsAndTheOthersAsEver() {
        store.schedule("good", -2);
        store.schedule("damaged", -1);
        store.claim(0, 1);
        store.cut("damaged", 37);

        Handout handout = store.pop(0, 1, 1, 10);

        assertThat(ids(handout)).containsExactly("good", "damaged");
        assertThat(handout.jobs().get(0).damage()).isNull();
        assertThat(handout.jobs().get(1).damage()).contains("1 bytes");
        assertThat(handout.jobs().get(1).job().payload()).hasSize(1);
    }

    @Test
    void shouldLeaveARecordAloneWhoseHeaderIsCut() {
        store.schedule("good", -3);
        store.schedule("cut", -2);
        store.schedule("empty", -1);
        store.claim(0, 1);
        store.cut("cut", 20);
        store.cut("empty", 0);

        Handout handout = store.pop(0, 1, 1, 10);

        assertThat(ids(handout)).containsExactly("good");
        assertThat(handout.skipped()).isEqualTo(2);
        assertThat(handout.next()).isEqualTo(START_MS + 10_000);
    }

    @Test
    void shouldStopAtAMebibyte() {
        for (int i = 0; i < 5; i++) {
            store.schedule(large("job-" + i, i - 10, Limits.PAYLOAD_BYTES));
        }
        store.claim(0, 1);

        Handout first = store.pop(0, 1, 1, 10);
        Handout second = store.pop(0, 1, 2, 10);

        assertThat(ids(first)).containsExactly("job-0", "job-1", "job-2");
        assertThat(first.next()).as("the first one left is due").isEqualTo(START_MS - 7);
        assertThat(ids(second)).containsExactly("job-3", "job-4");
        assertThat(second.next()).isEqualTo(-1);
    }

    @Test
    void shouldHandOutASingleJobThatIsLargerThanTheLimit() {
        store.schedule(large("small", -2, 10));
        store.schedule(large("huge", -1, 2 * 1024 * 1024));
        store.schedule(large("last", 0, 10));
        store.claim(0, 1);

        assertThat(ids(store.pop(0, 1, 1, 10))).containsExactly("small");
        assertThat(ids(store.pop(0, 1, 2, 10))).containsExactly("huge");
        assertThat(ids(store.pop(0, 1, 3, 10))).containsExactly("last");
    }

    @Test
    void shouldHandOutFiveHundredAtOnce() {
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            jobs.add(newJob("job-" + i, -i));
        }
        get(store.jobs.schedule(store.shard(), 1, jobs));
        store.schedule("one-more", 0);
        store.claim(0, 1);

        List<String> changes = store.changesOf(() -> {
            Handout handout = store.pop(0, 1, 1, 500);
            assertThat(handout.jobs()).hasSize(500);
            assertThat(handout.next()).isEqualTo(START_MS);
        });

        assertThat(changes).hasSize(3 * 500 + 4).contains("~ ledger pending = 501 > 1");
    }

    @Test
    void shouldForgetTheHandoutWithTheNodesSilence() {
        store.inFlight("a");

        assertThat(store.redis.number("PTTL", store.keys.pops(store.shard(), "1")))
                .isBetween(LEASE.toMillis() - 20_000, 60_000L);
    }

    static List<String> ids(Handout handout) {
        assertThat(handout.status()).isEqualTo(Handout.Status.OK);
        return handout.jobs().stream().map(job -> job.job().id()).toList();
    }

    /** Whether two handouts hold the same receipts, jobs and digests. */
    private static boolean same(Handout one, Handout other) {
        return one.next() == other.next()
                && one.skipped() == other.skipped()
                && one.jobs().stream()
                        .map(PopIT::shown)
                        .toList()
                        .equals(other.jobs().stream().map(PopIT::shown).toList());
    }

    private static String shown(HandedJob job) {
        return job.receipt() + " " + job.job() + Arrays.toString(job.digest());
    }

    static NewJob large(String id, long afterMs, int payloadBytes) {
        return new NewJob(
                id,
                START_MS + afterMs,
                digest("1"),
                false,
                JobRecord.encodeBody(null, Map.of(), new byte[payloadBytes]),
                0);
    }
}

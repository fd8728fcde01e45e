package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.VISIBILITY;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.newJob;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.ScriptRunner.Call;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class CompletionIT {
    private final TestStore store;

    CompletionIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("ack OK")
    void shouldEndHandledJobsAndLeaveTombstones() {
        List<HandedJob> jobs = store.inFlight("a", "b", "c");

        List<String> changes = store.changesOf(
                () -> assertThat(ack(RETENTION, jobs.get(0), jobs.get(2))).containsExactly(true, true));

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "+ end:a = D 3100000000000000",
                        "+ end:a ttl = 5min",
                        "+ end:c = D 3100000000000000",
                        "+ end:c ttl = 5min",
                        "- inflight 1:1.1:a",
                        "- inflight 1:1.1:c",
                        "+ ledger done = 2",
                        "- r a",
                        "- r c");
    }

    @Test
    void shouldLeaveNothingWithoutRetention() {
        HandedJob job = store.inFlight("a").get(0);

        List<String> changes =
                store.changesOf(() -> assertThat(ack(Duration.ZERO, job)).containsExactly(true));

        assertThat(changes).containsExactlyInAnyOrder("- inflight 1:1.1:a", "+ ledger done = 1", "- r a");
    }

    @Test
    @Replies("ack STALE")
    void shouldRefuseAReceiptThatIsNotInFlight() {
        HandedJob acked = store.inFlight("a", "b").get(0);
        HandedJob other =
                withReceipt(acked, new Receipt(1, "1", 2, acked.receipt().member()));
        HandedJob redelivered =
                withReceipt(acked, new Receipt(2, "1", 1, acked.receipt().member()));
        HandedJob anothers =
                withReceipt(acked, new Receipt(1, "2", 1, acked.receipt().member()));
        assertThat(store.changesOf(() ->
                        assertThat(ack(RETENTION, other, redelivered, anothers)).containsOnly(false)))
                .isEmpty();
        ack(RETENTION, acked);

        assertThat(store.changesOf(
                        () -> assertThat(ack(RETENTION, acked)).as("a repeat").containsExactly(false)))
                .isEmpty();
    }

    @Test
    void shouldJudgeEachReceiptOfACallByItself() {
        List<HandedJob> jobs = store.inFlight("a", "b");
        ack(RETENTION, jobs.get(0));

        List<String> changes = store.changesOf(
                () -> assertThat(ack(RETENTION, jobs.get(0), jobs.get(1))).containsExactly(false, true));

        assertThat(changes)
                .contains("~ ledger done = 1 > 2", "+ end:b = D 3100000000000000")
                .hasSize(5);
    }

    @Test
    void shouldCountAReceiptOnceThatACallNamesTwice() {
        List<HandedJob> jobs = store.inFlight("a", "b");

        List<String> changes = store.changesOf(() -> assertThat(ack(RETENTION, jobs.get(0), jobs.get(1), jobs.get(0)))
                .containsExactly(true, true, true));

        assertThat(changes).contains("+ ledger done = 2", "- r a", "- r b").hasSize(9);
    }

    @Test
    void shouldEndFiveHundredAtOnce() {
        List<NewJob> many = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            many.add(newJob("job-" + i, -1));
        }
        get(store.jobs.schedule(store.shard(), 1, many));
        store.claim(0, 1);
        List<HandedJob> jobs = store.pop(0, 1, 1, 500).jobs();

        List<String> changes = store.changesOf(() -> assertThat(ack(RETENTION, jobs.toArray(HandedJob[]::new)))
                .hasSize(500)
                .containsOnly(true));

        assertThat(changes).contains("+ ledger done = 500").hasSize(4 * 500 + 1);
    }

    @Test
    @Replies("retry OK")
    void shouldLetAFailedJobWaitForItsNextAttempt() {
        HandedJob job = store.inFlight("a").get(0);

        List<String> changes = store.changesOf(
                () -> assertThat(get(store.jobs.retry(job, START_MS + 61_000, true, "no route to host")))
                        .isTrue());

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "+ b:M+1 a = T+61000",
                        "+ buckets M+1 = M+1",
                        "- inflight 1:1.1:a",
                        "~ ledger pending = 0 > 1",
                        "+ ledger retried = 1",
                        "~ r a state=I>P attempt=1>2 delivery=1>0 minute=M+0>M+1 due=T+0>T+61000 "
                                + "reason=>no%20route%20to%20host");
        assertThat(job(("a")).lastFailure()).isEqualTo("no route to host");
    }

    @Test
    void shouldNeitherCountAnAttemptNorADeliveryOfAJobHandedBackUnrun() {
        HandedJob job = store.inFlight("a").get(0);
        get(store.jobs.retry(job, START_MS, true, "first"));
        HandedJob second = store.pop(0, 1, 2, 1).jobs().get(0);

        List<String> changes = store.changesOf(() -> assertThat(get(store.jobs.retry(second, START_MS - 1, false, "")))
                .isTrue());

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "+ b:M+0 a = T-1",
                        "+ buckets M+0 = M+0",
                        "- inflight 1:1.2:a",
                        "~ ledger pending = 0 > 1",
                        "+ ledger nacked = 1",
                        "~ r a state=I>P delivery=1>0 due=T+0>T-1");
        assertThat(job("a").lastFailure()).as("kept").isEqualTo("first");
    }

    @Test
    void shouldTakeOneDeliveryBackWhenARecoveredJobIsHandedBack() {
        store.inFlight("a");
        HandedJob recovered = store.recover(2, 1, 1, "1").jobs().get(0);
        assertThat(recovered.job().delivery()).isEqualTo(2);

        get(store.jobs.retry(recovered, START_MS, false, ""));

        assertThat(job("a").delivery())
                .as("the crash of its first node still counts")
                .isEqualTo(1);
    }

    @Test
    void shouldForgetTheDeliveriesOfAnAttemptThatFailed() {
        store.inFlight("a");
        HandedJob recovered = store.recover(2, 1, 1, "1").jobs().get(0);

        get(store.jobs.retry(recovered, START_MS, true, "broken"));

        assertThat(job("a").delivery()).isZero();
        assertThat(job("a").attempt()).isEqualTo(2);
    }

    @Test
    void shouldStoreAReasonCutToItsLimit() {
        HandedJob job = store.inFlight("a").get(0);

        get(store.jobs.retry(job, START_MS, true, "x" + "\u00e9".repeat(400)));

        assertThat(job("a").lastFailure()).isEqualTo("x" + "\u00e9".repeat(255));
        assertThat(job("a").payload()).asString().isEqualTo("body");
        HandedJob again = store.pop(0, 1, 2, 1).jobs().get(0);
        get(store.jobs.retry(again, START_MS, true, "short"));
        assertThat(job("a").lastFailure()).isEqualTo("short");
        assertThat(job("a").payload()).asString().isEqualTo("body");
    }

    @Test
    void shouldStopCountingAttemptsAtTheEndOfTheirField() {
        HandedJob job = store.inFlight("a").get(0);
        String member = job.receipt().member();
        String key = store.keys.records(store.shard(), member);
        byte[] record = (byte[]) store.redis.call("HGET", key, member);
        record[2] = record[3] = (byte) 0xff;
        store.redis.call("HSET", key, member, record);

        assertThat(get(store.jobs.retry(job, START_MS, true, ""))).isTrue();

        assertThat(job("a").attempt()).isEqualTo(65535);
    }

    @Test
    void shouldAnswerWithTheNextAttempt() {
        HandedJob job = store.inFlight("a").get(0);
        Call call = new Call(Script.RETRY)
                .key(store.keys.inflight(store.shard()))
                .key(store.keys.bucket(store.bucket(0)))
                .key(store.keys.index(store.shard()))
                .key(store.keys.ledger(store.shard()))
                .key(store.keys.records(store.shard(), job.receipt().member()))
                .key(store.keys.wake(store.shard()))
                .arg(job.receipt().toString())
                .arg(START_MS)
                .arg(START_MINUTE)
                .arg(1)
                .arg("")
                .arg(0);

        assertThat(store.run(call)).containsExactly("OK", START_MS * 1000, 2L);
    }

    @Test
    @Replies("retry STALE")
    void shouldNotPutBackAJobOfAStaleReceipt() {
        HandedJob job = store.inFlight("a").get(0);
        HandedJob recovered = store.recover(2, 1, 1, "1").jobs().get(0);

        assertThat(store.changesOf(() -> assertThat(get(store.jobs.retry(job, START_MS, true, "late")))
                        .isFalse()))
                .isEmpty();
        get(store.jobs.retry(recovered, START_MS, true, ""));
        assertThat(store.changesOf(() -> assertThat(get(store.jobs.retry(recovered, START_MS, true, "")))
                        .as("a repeat")
                        .isFalse()))
                .isEmpty();
    }

    @Test
    void shouldDropAReceiptWhoseRecordIsLost() {
        List<HandedJob> jobs = store.inFlight("a", "b");
        store.loseRecord("a");
        store.loseRecord("b");

        assertThat(store.changesOfDamaged(
                        1,
                        () -> assertThat(get(store.jobs.retry(jobs.get(0), START_MS, true, "")))
                                .isFalse()))
                .containsExactly("- inflight 1:1.1:a", "+ ledger orphans = 1");
        assertThat(store.changesOfDamaged(
                        2,
                        () -> assertThat(get(store.jobs.bury(jobs.get(1), "", TopicSettings.defaults())))
                                .isEmpty()))
                .containsExactly("- inflight 1:1.1:b", "~ ledger orphans = 1 > 2");
    }

    @Test
    void shouldLeaveARecordOfANewerVersionAlone() {
        List<HandedJob> jobs = store.inFlight("a", "b");
        store.makeNewer("a");
        store.makeNewer("b");

        assertThat(store.changesOf(() -> {
                    assertThat(get(store.jobs.retry(jobs.get(0), START_MS, true, "")))
                            .isFalse();
                    assertThat(get(store.jobs.bury(jobs.get(1), "", TopicSettings.defaults())))
                            .isEmpty();
                }))
                .isEmpty();
    }

    @Test
    @Replies("bury OK")
    void shouldMakeADeadLetter() {
        HandedJob job = store.inFlight("a").get(0);

        List<String> changes =
                store.changesOf(() -> assertThat(get(store.jobs.bury(job, "gave up", TopicSettings.defaults())))
                        .isEqualTo(Optional.of(0)));

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "+ dead a = T+0",
                        "- inflight 1:1.1:a",
                        "+ ledger buried = 1",
                        "~ r a state=I>X reason=>gave%20up");
    }

    @Test
    @Replies("bury STALE")
    void shouldNotBuryAJobOfAStaleReceipt() {
        HandedJob job = store.inFlight("a").get(0);
        HandedJob recovered = store.recover(2, 1, 1, "1").jobs().get(0);

        assertThat(store.changesOf(() -> assertThat(get(store.jobs.bury(job, "", TopicSettings.defaults())))
                        .isEmpty()))
                .isEmpty();
        get(store.jobs.bury(recovered, "", TopicSettings.defaults()));
        assertThat(store.changesOf(() -> assertThat(get(store.jobs.bury(recovered, "", TopicSettings.defaults())))
                        .as("a repeat")
                        .isEmpty()))
                .isEmpty();
    }

    @Test
    void shouldDropTheOldestDeadLetterBeyondTheLimit() {
        TopicSettings two = TopicSettings.defaults().withShards(1).withDeadLimit(2);
        List<HandedJob> jobs = store.inFlight("a", "b", "c");
        get(store.jobs.bury(jobs.get(0), "", two));
        store.now(START_MS + 1);
        get(store.jobs.bury(jobs.get(1), "", two));
        store.now(START_MS + 2);

        List<String> changes = store.changesOf(
                () -> assertThat(get(store.jobs.bury(jobs.get(2), "", two))).isEqualTo(Optional.of(1)));

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "- dead a",
                        "+ dead c = T+2",
                        "- inflight 1:1.1:c",
                        "~ ledger buried = 2 > 3",
                        "+ ledger overflow = 1",
                        "+ ledger purged = 1",
                        "- r a",
                        "~ r c state=I>X");
    }

    @Test
    void shouldDropDeadLettersThatGrewOldAndCountEachOnce() {
        TopicSettings strict =
                TopicSettings.defaults().withShards(1).withDeadLimit(3).withDeadAge(Duration.ofSeconds(10));
        List<HandedJob> jobs = store.inFlight("a", "b", "c", "d");
        get(store.jobs.bury(jobs.get(0), "", strict));
        get(store.jobs.bury(jobs.get(1), "", strict));
        store.now(START_MS + 1);
        get(store.jobs.bury(jobs.get(2), "", strict));
        store.now(START_MS + 10_000);

        List<String> changes = store.changesOf(
                () -> assertThat(get(store.jobs.bury(jobs.get(3), "", strict))).isEqualTo(Optional.of(2)));

        assertThat(changes)
                .contains("- dead a", "- dead b", "- r a", "- r b", "+ ledger purged = 2", "+ ledger overflow = 2")
                .noneMatch(line -> line.contains(" c"));
    }

    @Test
    void shouldDropAHundredDeadLettersACallAtMost() {
        List<NewJob> many = new ArrayList<>();
        for (int i = 0; i < 152; i++) {
            many.add(newJob("job-" + i, -1));
        }
        get(store.jobs.schedule(store.shard(), 1, many));
        store.claim(0, 1);
        List<HandedJob> jobs = store.pop(0, 1, 1, 500).jobs();
        for (HandedJob job : jobs.subList(0, 150)) {
            get(store.jobs.bury(job, "", TopicSettings.defaults()));
        }
        TopicSettings one = TopicSettings.defaults().withShards(1).withDeadLimit(1);

        store.changesOf(() -> {
            assertThat(get(store.jobs.bury(jobs.get(150), "", one))).isEqualTo(Optional.of(100));
            assertThat(get(store.jobs.bury(jobs.get(151), "", one))).isEqualTo(Optional.of(51));
        });

        assertThat(get(store.jobs.stats(store.shard())).dead()).isEqualTo(1);
    }

    @Test
    @Replies({"extend OK", "extend STALE"})
    void shouldMoveTheDeadlinesOfWhatStillRuns() {
        List<HandedJob> jobs = store.inFlight("a", "b", "c");
        ack(RETENTION, jobs.get(1));
        store.now(START_MS + 10_000);
        List<Receipt> receipts = List.of(
                jobs.get(0).receipt(), jobs.get(1).receipt(), jobs.get(0).receipt());

        List<String> changes =
                store.changesOf(() -> assertThat(get(store.jobs.extend(store.shard(), receipts, VISIBILITY)))
                        .containsExactly(true, false, true));

        assertThat(changes).containsExactly("~ inflight 1:1.1:a = T+30000 > T+40000");
        assertThat(store.changesOf(() -> get(store.jobs.extend(store.shard(), receipts, VISIBILITY))))
                .as("a repeat")
                .isEmpty();
    }

    @Test
    void shouldNotExtendTheReceiptThatARecoveryReplaced() {
        HandedJob job = store.inFlight("a").get(0);
        store.recover(2, 1, 1, "1");

        assertThat(store.changesOf(() -> assertThat(
                                get(store.jobs.extend(store.shard(), List.of(job.receipt()), VISIBILITY)))
                        .containsExactly(false)))
                .isEmpty();
    }

    @Test
    void shouldTakeIdsThatLookLikeReceipts() {
        String id = "1:1.1:" + "x".repeat(Limits.ID_CHARS - 6);
        HandedJob job = store.inFlight(id).get(0);

        assertThat(job.receipt().member()).isEqualTo(ShardMap.memberOf(id));
        assertThat(store.changesOf(() -> assertThat(ack(RETENTION, job)).containsExactly(true)))
                .contains("- r " + id, "+ end:" + id + " = D 3100000000000000");
    }

    private io.minutehand.core.job.Job job(String id) {
        return get(store.jobs.find(store.shard(), id, soon())).orElseThrow().job();
    }

    private List<Boolean> ack(Duration retention, HandedJob... jobs) {
        return get(store.jobs.ack(store.shard(), List.of(jobs), retention));
    }

    private static HandedJob withReceipt(HandedJob job, Receipt receipt) {
        return new HandedJob(job.shard(), receipt, job.job(), job.digest(), job.damage());
    }
}

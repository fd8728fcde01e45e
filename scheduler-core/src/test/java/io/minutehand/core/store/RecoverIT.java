package io.minutehand.core.store;

import static io.minutehand.core.store.PopIT.ids;
import static io.minutehand.core.store.PopIT.large;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.VISIBILITY;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.newJob;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Limits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(SharedTestStore.class)
class RecoverIT {
    private static final long DEADLINE_MS = START_MS + VISIBILITY.toMillis();

    private final TestStore store;

    RecoverIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("recover OK")
    void shouldHandOverWhatIsPastItsDeadline() {
        List<HandedJob> jobs = store.inFlight("a", "b");
        store.now(START_MS + 1);
        get(store.jobs.extend(store.shard(), List.of(jobs.get(1).receipt()), VISIBILITY));
        store.now(DEADLINE_MS);

        List<String> changes = store.changesOf(() -> {
            Handout handout = store.recover(2, 1, 10, "");
            assertThat(ids(handout)).containsExactly("a");
            assertThat(handout.next()).isZero();
            HandedJob job = handout.jobs().get(0);
            assertThat(job.receipt().toString()).startsWith("2:2.1:");
            assertThat(job.job().delivery()).isEqualTo(2);
            assertThat(job.job().attempt()).isEqualTo(1);
        });

        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "- inflight 1:1.1:a",
                        "+ inflight 2:2.1:a = T+60000",
                        "+ ledger recovered = 1",
                        "+ pop:2 receipts = 2:2.1:a",
                        "+ pop:2 seq = 1",
                        "+ pop:2 ttl = 1min",
                        "~ r a delivery=1>2");
        assertThat(get(store.jobs.ack(store.shard(), jobs, RETENTION)))
                .as("the old receipt is worth nothing")
                .containsExactly(false, true);
    }

    @Test
    void shouldLeaveWhatIsBeforeItsDeadline() {
        store.inFlight("a");
        store.now(DEADLINE_MS - 1);

        assertThat(store.changesOf(
                        () -> assertThat(ids(store.recover(2, 1, 10, ""))).isEmpty()))
                .containsExactlyInAnyOrder("+ pop:2 receipts = ", "+ pop:2 seq = 1", "+ pop:2 ttl = 1min");
    }

    @Test
    void shouldHandOverWhatADeadNodeHadWhateverItsDeadline() {
        store.schedule("x:1.9:y", 0);
        store.schedule("b", 0);
        store.claim(0, 1);
        store.pop(0, 1, 1, 1);
        get(store.leases.breakLeases(store.shard(), List.of(TestStore.START_MINUTE), "1"));
        store.claim(0, 11);
        store.pop(0, 11, 1, 1);

        List<String> changes = store.changesOf(
                () -> assertThat(ids(store.recover(2, 1, 10, "1"))).hasSize(1));

        assertThat(changes)
                .filteredOn(line -> line.contains("inflight"))
                .hasSize(2)
                .allMatch(line -> line.matches("- inflight 1:1\\.1:.*|\\+ inflight 2:2\\.1:.*"));
        assertThat(ids(store.recover(2, 2, 10, "9")))
                .as("an id may look like a receipt")
                .isEmpty();
    }

    @Test
    void shouldSayThatMoreIsLeft() {
        store.inFlight("a", "b", "c");
        store.now(DEADLINE_MS);

        assertThat(store.recover(2, 1, 2, "").next()).isEqualTo(1);
        assertThat(store.recover(2, 2, 2, "")).satisfies(last -> {
            assertThat(ids(last)).hasSize(1);
            assertThat(last.next()).isZero();
        });
        assertThat(store.recover(3, 1, 2, "2").next()).isEqualTo(1);
        assertThat(store.recover(3, 2, 2, "2")).satisfies(last -> {
            assertThat(ids(last)).hasSize(1);
            assertThat(last.next()).isZero();
        });
    }

    @Test
    void shouldFindADeadNodesJobsBehindAThousandOfOthers() {
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            jobs.add(newJob("job-" + i, -1));
        }
        get(store.jobs.schedule(store.shard(), 1, jobs));
        get(store.jobs.schedule(
                store.shard(),
                1,
                jobs.stream().map(job -> newJob(job.id() + "-b", -1)).toList()));
        store.claim(0, 1);
        store.pop(0, 1, 1, 500);
        store.pop(0, 1, 2, 500);
        store.schedule("last", 0);
        store.now(START_MS + 1);
        get(store.leases.breakLeases(store.shard(), List.of(TestStore.START_MINUTE), "1"));
        store.claim(0, 7);
        assertThat(ids(store.pop(0, 7, 1, 1))).containsExactly("last");

        Handout page = store.recover(2, 1, 10, "7");
        assertThat(ids(page)).isEmpty();
        assertThat(page.next()).as("a full page was read").isEqualTo(1);

        Handout next = get(store.jobs.recover(store.shard(), store.node(2), 2, 10, VISIBILITY, "7", 1000));
        assertThat(ids(next)).containsExactly("last");
        assertThat(next.next()).isZero();
    }

    @Test
    @Replies("recover OLD")
    void shouldIgnoreACallThatALaterOneOvertook() {
        store.inFlight("a");
        store.now(DEADLINE_MS);
        store.recover(2, 5, 10, "none");

        assertThat(store.changesOf(() -> assertThat(store.recover(2, 4, 10, ""))
                        .isEqualTo(new Handout(Handout.Status.OLD, -1, 0, List.of()))))
                .isEmpty();
    }

    @Test
    void shouldGiveALostReplyAgain() {
        store.inFlight("a", "b");
        store.now(DEADLINE_MS);
        Handout lost = store.recover(2, 1, 10, "");
        get(store.jobs.ack(store.shard(), List.of(lost.jobs().get(1)), RETENTION));
        store.now(DEADLINE_MS + 1000);

        assertThat(store.changesOf(() -> {
                    Handout again = store.recover(2, 1, 10, "");
                    assertThat(again.jobs())
                            .singleElement()
                            .satisfies(job -> assertThat(job.receipt())
                                    .isEqualTo(lost.jobs().get(0).receipt()));
                    assertThat(again.next())
                            .as("a repeat does not know, so ask again")
                            .isEqualTo(1);
                }))
                .isEmpty();
    }

    @Test
    void shouldDropAReceiptWhoseRecordIsLostAndCountIt() {
        store.inFlight("lost", "kept");
        store.loseRecord("lost");
        store.now(DEADLINE_MS);

        List<String> changes = store.changesOfDamaged(
                1, () -> assertThat(ids(store.recover(2, 1, 10, ""))).containsExactly("kept"));

        assertThat(changes)
                .contains("- inflight 1:1.1:lost", "+ ledger orphans = 1", "+ ledger recovered = 1")
                .noneMatch(line -> line.contains("r lost"));
    }

    @ParameterizedTest
    @CsvSource({"'', a", "1, a", "'', waiting", "1, waiting", "'', dead", "1, dead"})
    void shouldDropAReceiptThatIsNotItsJobs(String from, String of) {
        store.dead("dead");
        store.inFlight("a");
        store.schedule("waiting", 60_000);
        store.redis.call("ZADD", store.keys.inflight(store.shard()), START_MS, "7:1.9:" + ShardMap.memberOf(of));
        store.now(DEADLINE_MS);
        ShardImage before = store.image();

        assertThat(ids(store.recover(2, 1, 10, from))).containsExactly("a");

        ShardImage after = store.image();
        assertThat(after.since(before))
                .containsExactlyInAnyOrder(
                        "- inflight 1:1.1:a",
                        "- inflight 7:1.9:" + of,
                        "+ inflight 2:2.1:a = T+60000",
                        "+ ledger mended = 1",
                        "+ ledger recovered = 1",
                        "+ pop:2 receipts = 2:2.1:a",
                        "+ pop:2 seq = 1",
                        "+ pop:2 ttl = 1min",
                        "~ r a delivery=1>2");
        assertThat(ShardInvariants.broken(after)).isEmpty();
    }

    @Test
    void shouldLeaveRecordsOfANewerVersionToNewerNodesWithoutStoppingAtThem() {
        List<HandedJob> jobs = store.inFlight("newer-1", "newer-2", "z");
        store.makeNewer("newer-1");
        store.makeNewer("newer-2");
        store.now(START_MS + 1);
        get(store.jobs.extend(store.shard(), List.of(jobs.get(2).receipt()), VISIBILITY));
        store.now(DEADLINE_MS + 1);

        List<String> changes = store.changesOf(() -> {
            Handout first = store.recover(2, 1, 2, "");
            assertThat(first.skipped()).isEqualTo(2);
            assertThat(ids(first)).isEmpty();
            assertThat(first.next()).isEqualTo(1);
            Handout second = store.recover(2, 2, 2, "");
            assertThat(ids(second)).containsExactly("z");
            assertThat(second.next()).isZero();
        });

        assertThat(changes)
                .contains(
                        "~ inflight 1:1.1:newer-1 = T+30000 > T+40001", "~ inflight 1:1.1:newer-2 = T+30000 > T+40001")
                .noneMatch(line -> line.contains("r newer"));
    }

    @Test
    void shouldSkipADeadNodesNewerRecordsWhereTheyAre() {
        store.inFlight("newer", "a");
        store.makeNewer("newer");

        List<String> changes = store.changesOf(() -> {
            Handout handout = store.recover(2, 1, 10, "1");
            assertThat(handout.skipped()).isEqualTo(1);
            assertThat(ids(handout)).containsExactly("a");
            assertThat(handout.next()).isZero();
        });

        assertThat(changes).noneMatch(line -> line.contains("newer"));
    }

    @Test
    void shouldFindADeadNodesJobsBehindItsNewerRecordsHoweverFewAreAskedFor() {
        store.inFlight("newer-1", "newer-2", "z");
        store.makeNewer("newer-1");
        store.makeNewer("newer-2");

        Handout first = store.recover(2, 1, 1, "1");
        assertThat(ids(first)).containsExactly("z");
        assertThat(first.next()).isZero();
        assertThat(ids(store.recover(2, 2, 1, "1"))).isEmpty();
    }

    @Test
    void shouldStopAtAMebibyte() {
        for (int i = 0; i < 5; i++) {
            store.schedule(large("job-" + i, i - 10, Limits.PAYLOAD_BYTES));
        }
        store.claim(0, 1);
        store.pop(0, 1, 1, 10);
        store.pop(0, 1, 2, 10);
        store.now(DEADLINE_MS);

        Handout first = store.recover(2, 1, 10, "");
        Handout second = store.recover(2, 2, 10, "");

        assertThat(first.jobs()).hasSize(3);
        assertThat(first.next()).isEqualTo(1);
        assertThat(second.jobs()).hasSize(2);
        assertThat(second.next()).isZero();
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.ABSENT;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.CONFLICT;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.CREATED;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.ELSEWHERE;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.EXISTS;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.NEWER;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.REPLACED;
import static io.minutehand.core.store.ScheduleOutcome.ItemStatus.RUNNING;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.body;
import static io.minutehand.core.store.TestStore.digest;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.newJob;
import static io.minutehand.core.store.TestStore.replacement;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.Durability;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.ScheduleOutcome.Item;
import io.minutehand.core.store.ScheduleOutcome.Status;
import io.minutehand.core.topic.TopicSettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class ScheduleIT {
    private final TestStore store;

    ScheduleIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies({"schedule OK", "schedule CREATED"})
    void shouldStoreNewJobs() {
        List<Item> items = new ArrayList<>();

        List<String> changes = store.changesOf(() -> items.addAll(
                schedule(newJob("past", -90_000), newJob("now", 0), newJob("soon", 500), newJob("later", 60_000))));

        assertThat(items).containsOnly(new Item(CREATED, null, 0));
        String header = "state=P attempt=1 delivery=0 ";
        String rest = " created=T+0 digest=3100000000000000 reason= body=%FF%FF%00%00body";
        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "+ b:M+0 now = T+0",
                        "+ b:M+0 past = T-90000",
                        "+ b:M+0 soon = T+500",
                        "+ b:M+1 later = T+60000",
                        "+ buckets M+0 = M+0",
                        "+ buckets M+1 = M+1",
                        "+ ledger accepted = 4",
                        "+ ledger pending = 4",
                        "+ r later = " + header + "minute=M+1 due=T+60000" + rest,
                        "+ r now = " + header + "minute=M+0 due=T+0" + rest,
                        "+ r past = " + header + "minute=M+0 due=T-90000" + rest,
                        "+ r soon = " + header + "minute=M+0 due=T+500" + rest);
    }

    @Test
    void shouldKeepADueTimeBeforeTheEpoch() {
        NewJob job = new NewJob("old", -1, digest("1"), false, body("body"), 0);

        List<String> changes = store.changesOf(() -> schedule(job));

        assertThat(changes).anyMatch(line -> line.contains("due=T" + (-1 - START_MS) + " "));
        store.claim(0, 1);
        HandedJob handed = store.pop(0, 1, 1, 1).jobs().get(0);
        assertThat(handed.job().dueAt().toEpochMilli()).isEqualTo(-1);
        get(store.jobs.bury(handed, "broken", TopicSettings.defaults()));
        assertThat(get(store.jobs.find(store.shard(), "old", soon()))
                        .orElseThrow()
                        .job()
                        .dueAt()
                        .toEpochMilli())
                .isEqualTo(-1);
    }

    @Test
    @Replies("schedule EXISTS")
    void shouldAnswerARepeatWithTheStateOfTheJob() {
        seedEachState();

        assertThat(store.changesOf(() -> assertThat(schedule(
                                newJob("pending", 0),
                                newJob("running", 0),
                                newJob("dead", 0),
                                newJob("done", 0),
                                newJob("cancelled", 0)))
                        .containsExactly(
                                new Item(EXISTS, JobState.PENDING, 0),
                                new Item(EXISTS, JobState.IN_FLIGHT, 0),
                                new Item(EXISTS, JobState.DEAD, 0),
                                new Item(EXISTS, JobState.DONE, 0),
                                new Item(EXISTS, JobState.CANCELLED, 0))))
                .isEmpty();
    }

    @Test
    @Replies("schedule CONFLICT")
    void shouldRefuseAnotherRequestWithAnIdInUse() {
        seedEachState();

        assertThat(store.changesOf(() -> assertThat(schedule(
                                other("pending"), other("running"), other("dead"), other("done"), other("cancelled")))
                        .containsExactly(
                                new Item(CONFLICT, JobState.PENDING, 0),
                                new Item(CONFLICT, JobState.IN_FLIGHT, 0),
                                new Item(CONFLICT, JobState.DEAD, 0),
                                new Item(CONFLICT, JobState.DONE, 0),
                                new Item(CONFLICT, JobState.CANCELLED, 0))))
                .isEmpty();
    }

    @Test
    @Replies({"schedule REPLACED", "schedule RUNNING"})
    void shouldReplaceWhatDoesNotRun() {
        seedEachState();

        List<String> changes = store.changesOf(() -> assertThat(schedule(
                        replacement("pending", 60_000, "2", 0),
                        replacement("running", 60_000, "2", 0),
                        replacement("dead", 60_000, "2", 0),
                        replacement("done", 60_000, "2", 0),
                        replacement("cancelled", 60_000, "2", 0)))
                .containsExactly(
                        new Item(REPLACED, JobState.PENDING, 0),
                        new Item(RUNNING, JobState.IN_FLIGHT, 0),
                        new Item(REPLACED, JobState.DEAD, 0),
                        new Item(REPLACED, JobState.DONE, 0),
                        new Item(REPLACED, JobState.CANCELLED, 0)));

        String fresh =
                "state=P attempt=1 delivery=0 minute=M+1 due=T+60000 created=T+0 digest=3200000000000000 reason= "
                        + "body=%FF%FF%00%00other";
        String changed = " digest=3100000000000000>3200000000000000";
        assertThat(changes)
                .containsExactlyInAnyOrder(
                        "+ b:M+1 cancelled = T+60000",
                        "+ b:M+1 dead = T+60000",
                        "+ b:M+1 done = T+60000",
                        "+ b:M+1 pending = T+60000",
                        "+ buckets M+1 = M+1",
                        "+ r cancelled = " + fresh,
                        "+ r done = " + fresh,
                        "- b:M+0 pending",
                        "- buckets M+0",
                        "- dead dead",
                        "- end:cancelled",
                        "- end:cancelled ttl",
                        "- end:done",
                        "- end:done ttl",
                        "+ ledger purged = 1",
                        "~ ledger accepted = 5 > 8",
                        "~ ledger pending = 1 > 4",
                        "~ r dead state=X>P delivery=1>0 minute=M+0>M+1 due=T+0>T+60000" + changed
                                + " reason=broken> body=%FF%FF%00%00body>%FF%FF%00%00other",
                        "~ r pending minute=M+0>M+1 due=T+0>T+60000" + changed
                                + " body=%FF%FF%00%00body>%FF%FF%00%00other");
    }

    @Test
    void shouldReplaceInTheSameBucketAndKeepTheBucketsOfOthers() {
        store.schedule("a", 0);
        store.schedule("b", 0);
        store.schedule("c", 60_000);

        List<String> changes = store.changesOf(() -> assertThat(schedule(
                        replacement("a", 700, "2", 0), replacement("b", 60_500, "2", 0), replacement("c", 800, "2", 1)))
                .containsOnly(new Item(REPLACED, JobState.PENDING, 0)));

        assertThat(changes)
                .contains(
                        "~ b:M+0 a = T+0 > T+700", "- b:M+0 b", "+ b:M+1 b = T+60500", "- b:M+1 c", "+ b:M+0 c = T+800")
                .noneMatch(line -> line.contains("buckets") || line.contains("ledger"));
    }

    @Test
    @Replies("schedule ELSEWHERE")
    void shouldNameTheMinuteOfAJobToReplace() {
        store.schedule("a", 120_000);

        assertThat(store.changesOf(() -> {
                    assertThat(store.schedule(replacement("a", 0, "2", 1)))
                            .isEqualTo(new Item(ELSEWHERE, null, START_MINUTE + 2));
                    assertThat(store.schedule(replacement("a", 0, "2", -START_MINUTE)))
                            .isEqualTo(new Item(ELSEWHERE, null, START_MINUTE + 2));
                }))
                .isEmpty();
    }

    @Test
    @Replies("schedule NEWER")
    void shouldLeaveARecordOfANewerVersionAlone() {
        store.schedule("a", 0);
        store.makeNewer("a");

        assertThat(store.changesOf(() -> {
                    assertThat(store.schedule(newJob("a", 0)).status()).isEqualTo(NEWER);
                    assertThat(store.schedule(replacement("a", 0, "2", 0)).status())
                            .isEqualTo(NEWER);
                }))
                .isEmpty();
    }

    @Test
    void shouldCountAnIdOnceInACall() {
        NewJob twin = new NewJob("a", START_MS + 500, digest("2"), true, body("twin"), START_MINUTE);

        List<String> changes = store.changesOf(() -> assertThat(schedule(newJob("a", 0), newJob("a", 0), twin))
                .containsExactly(
                        new Item(CREATED, null, 0),
                        new Item(EXISTS, JobState.PENDING, 0),
                        new Item(CONFLICT, JobState.PENDING, 0)));

        assertThat(changes).contains("+ b:M+0 a = T+0", "+ ledger accepted = 1", "+ ledger pending = 1");
    }

    @Test
    void shouldChangeNothingByARepeatOfACallThatNamesAnIdTwice() {
        store.schedule(newJob("a", 0));
        NewJob same = new NewJob("a", START_MS, digest("1"), true, body("body"), START_MINUTE);
        NewJob other = replacement("a", 0, "2", 0);
        List<Item> first = new ArrayList<>();

        assertThat(store.changesOf(() -> first.addAll(schedule(same, other))))
                .as("its second item is not stored")
                .isEmpty();

        assertThat(first)
                .containsExactly(new Item(EXISTS, JobState.PENDING, 0), new Item(CONFLICT, JobState.PENDING, 0));
        assertThat(store.changesOf(() -> assertThat(schedule(same, other)).isEqualTo(first)))
                .isEmpty();
        NewJob elsewhere = replacement("a", 0, "3", 7);
        assertThat(schedule(elsewhere, other)).containsOnly(new Item(ELSEWHERE, null, START_MINUTE));
    }

    @Test
    @Replies("schedule STALE_SETTINGS")
    void shouldStoreNothingForAnotherEpoch() {
        assertThat(store.changesOf(() -> {
                    assertThat(get(store.jobs.schedule(store.shard(), 2, List.of(newJob("a", 0)))))
                            .isEqualTo(new ScheduleOutcome(Status.STALE_SETTINGS, List.of(), 0));
                    assertThat(get(store.jobs.schedule(store.shard(), 0, List.of(newJob("a", 0))))
                                    .status())
                            .isEqualTo(Status.STALE_SETTINGS);
                }))
                .isEmpty();
    }

    @Test
    @Replies("schedule ABSENT")
    void shouldStoreNothingNewInAnEarlierHome() {
        store.schedule("pending", 0);
        get(store.jobs.ack(store.shard(), store.inFlight("done"), RETENTION));
        List<Item> items = new ArrayList<>();

        List<String> changes = store.changesOf(() -> items.addAll(inEarlierHome(
                newJob("new", 0),
                newJob("new", 0),
                newJob("pending", 0),
                replacement("pending", 500, "2", 0),
                newJob("done", 0),
                replacement("done", 0, "2", 0))));

        Item absent = new Item(ABSENT, null, 0);
        assertThat(items)
                .containsExactly(
                        absent,
                        absent,
                        new Item(EXISTS, JobState.PENDING, 0),
                        new Item(CONFLICT, JobState.PENDING, 0),
                        new Item(EXISTS, JobState.DONE, 0),
                        new Item(CONFLICT, JobState.DONE, 0));
        assertThat(changes).isEmpty();
    }

    @Test
    void shouldReplaceInAnEarlierHomeWhatLivesThereAndLetGoOfWhatEnded() {
        store.schedule("pending", 0);
        get(store.jobs.ack(store.shard(), store.inFlight("done"), RETENTION));
        List<Item> items = new ArrayList<>();

        List<String> changes = store.changesOf(
                () -> items.addAll(inEarlierHome(replacement("pending", 500, "2", 0), replacement("done", 0, "2", 0))));

        assertThat(items).containsExactly(new Item(REPLACED, JobState.PENDING, 0), new Item(ABSENT, JobState.DONE, 0));
        assertThat(changes)
                .contains("- end:done", "~ b:M+0 pending = T+0 > T+500")
                .noneMatch(change -> change.startsWith("+ r ") || change.contains("ledger accepted"));
    }

    private List<Item> inEarlierHome(NewJob... jobs) {
        return get(store.jobs.schedule(store.shard(), 1, List.of(jobs), Durability.MEMORY, true))
                .items();
    }

    @Test
    void shouldCountARepeatThatReplicasAreAwaitedFor() {
        store.schedule("a", 0);
        Durability one = Durability.replicas(1, java.time.Duration.ofMillis(1));

        assertThat(store.changesOf(() -> assertThat(
                                get(store.jobs.schedule(store.shard(), 1, List.of(newJob("a", 0)), one, false))
                                        .items()
                                        .get(0)
                                        .status())
                        .isEqualTo(EXISTS)))
                .containsExactly("+ ledger barriers = 1");
    }

    @Test
    @Replies("schedule CLOCK_AHEAD")
    void shouldStoreNothingUnderALabelLaterThanTheServersTime() {
        store.schedule("kept", 0);
        store.jobs.clock(store.shard()).sample(System.nanoTime(), System.nanoTime(), (START_MS + 60_000) * 1000);

        assertThat(store.changesOf(() -> assertThat(get(store.jobs.schedule(
                                store.shard(), 1, List.of(newJob("later", 90_000), newJob("a", 0)))))
                        .isEqualTo(new ScheduleOutcome(Status.CLOCK_AHEAD, List.of(), 0))))
                .isEmpty();

        assertThat(store.schedule("a", 0).status())
                .as("the refusal set the clock right")
                .isEqualTo(CREATED);
    }

    @Test
    void shouldTakeTheLargestBatchAcrossManyBuckets() {
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            jobs.add(newJob("job-" + i, i * 1000L));
        }

        List<String> changes = store.changesOf(() -> assertThat(schedule(jobs.toArray(NewJob[]::new)))
                .hasSize(500)
                .containsOnly(new Item(CREATED, null, 0)));

        assertThat(changes)
                .contains("+ ledger accepted = 500", "+ buckets M+8 = M+8")
                .hasSize(1002 + 9);
    }

    /** One job in each state, named by it. */
    private void seedEachState() {
        store.dead("dead");
        store.schedule("done", 0);
        store.schedule("running", 0);
        store.claim(0, 9);
        Handout handout = store.pop(0, 9, 2, 2);
        for (HandedJob job : handout.jobs()) {
            if (job.job().id().equals("done")) {
                get(store.jobs.ack(store.shard(), List.of(job), RETENTION));
            }
        }
        store.schedule("cancelled", 0);
        get(store.jobs.cancel(store.shard(), "cancelled", RETENTION, soon()));
        store.schedule("pending", 0);
    }

    private static NewJob other(String id) {
        return new NewJob(id, START_MS, digest("2"), false, body("other"), 0);
    }

    private List<Item> schedule(NewJob... jobs) {
        ScheduleOutcome outcome = get(store.jobs.schedule(store.shard(), 1, List.of(jobs)));
        assertThat(outcome.status()).isEqualTo(Status.OK);
        return outcome.items();
    }
}

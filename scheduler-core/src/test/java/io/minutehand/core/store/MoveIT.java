package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.MoveOutcome.Status;
import io.minutehand.core.store.ScriptRunner.Call;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class MoveIT {
    private final TestStore store;

    MoveIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("cancel CANCELLED")
    void shouldCancelAPendingJobOnce() {
        store.schedule("a", 60_000);
        store.schedule("b", 60_000);
        store.schedule("c", 0);

        assertThat(store.changesOf(() -> assertThat(cancel("a")).isEqualTo(outcome(Status.CANCELLED))))
                .containsExactlyInAnyOrder(
                        "- b:M+1 a",
                        "+ end:a = C 3100000000000000",
                        "+ end:a ttl = 5min",
                        "+ ledger cancelled = 1",
                        "~ ledger pending = 3 > 2",
                        "- r a");
        assertThat(store.changesOf(() -> assertThat(cancel("a")).isEqualTo(outcome(Status.CANCELLED))))
                .as("a repeat")
                .isEmpty();
        assertThat(store.changesOf(() -> assertThat(cancel("b")).isEqualTo(outcome(Status.CANCELLED))))
                .as("the last of its bucket")
                .contains("- b:M+1 b", "- buckets M+1")
                .hasSize(7);
    }

    @Test
    void shouldLeaveNothingOfACancelledJobWithoutRetention() {
        store.schedule("a", 0);

        assertThat(store.changesOf(() -> assertThat(cancel("a", Duration.ZERO)).isEqualTo(outcome(Status.CANCELLED))))
                .containsExactlyInAnyOrder(
                        "- b:M+0 a", "- buckets M+0", "+ ledger cancelled = 1", "~ ledger pending = 1 > 0", "- r a");
        assertThat(cancel("a", Duration.ZERO)).isEqualTo(outcome(Status.NOT_FOUND));
    }

    @Test
    @Replies({"cancel RUNNING", "cancel ENDED", "cancel NOT_FOUND", "cancel NEWER"})
    void shouldSayWhyAJobCannotBeCancelled() {
        seedWhatCannotMove();

        assertThat(store.changesOf(() -> {
                    assertThat(cancel("running")).isEqualTo(outcome(Status.RUNNING));
                    assertThat(cancel("done")).isEqualTo(new MoveOutcome(Status.ENDED, JobState.DONE));
                    assertThat(cancel("dead")).isEqualTo(new MoveOutcome(Status.ENDED, JobState.DEAD));
                    assertThat(cancel("unheard-of")).isEqualTo(outcome(Status.NOT_FOUND));
                    assertThat(cancel("newer")).isEqualTo(outcome(Status.NEWER));
                }))
                .isEmpty();
    }

    @Test
    @Replies("cancel ELSEWHERE")
    void shouldNameTheBucketOfAJobToCancel() {
        store.schedule("a", 120_000);

        assertThat(store.changesOf(() -> {
                    assertThat(cancelIn("a", 0)).containsExactly("ELSEWHERE", START_MS * 1000, "" + (START_MINUTE + 2));
                    assertThat(cancelIn("a", -START_MINUTE)).startsWith("ELSEWHERE");
                }))
                .isEmpty();
        assertThat(cancelIn("a", 2)).containsExactly("CANCELLED", START_MS * 1000);
    }

    @Test
    @Replies("reschedule MOVED")
    void shouldMoveAPendingJob() {
        store.schedule("a", 500);
        store.schedule("b", 500);

        assertThat(store.changesOf(() -> assertThat(reschedule("a", 60_000)).isEqualTo(outcome(Status.MOVED))))
                .containsExactlyInAnyOrder(
                        "- b:M+0 a",
                        "+ b:M+1 a = T+60000",
                        "+ buckets M+1 = M+1",
                        "~ r a minute=M+0>M+1 due=T+500>T+60000");
        assertThat(store.changesOf(() -> assertThat(reschedule("a", 60_000)).isEqualTo(outcome(Status.MOVED))))
                .as("a repeat")
                .isEmpty();
        assertThat(store.changesOf(() -> assertThat(reschedule("a", -500)).isEqualTo(outcome(Status.MOVED))))
                .as("into the past, the last of its bucket")
                .containsExactlyInAnyOrder(
                        "- b:M+1 a", "+ b:M+0 a = T-500", "- buckets M+1", "~ r a minute=M+1>M+0 due=T+60000>T-500");
        assertThat(store.changesOf(() -> assertThat(reschedule("b", 700)).isEqualTo(outcome(Status.MOVED))))
                .as("in the same bucket")
                .containsExactlyInAnyOrder("~ b:M+0 b = T+500 > T+700", "~ r b due=T+500>T+700");
    }

    @Test
    void shouldKeepAttemptAndReasonOfAJobThatItMoves() {
        HandedJob job = store.inFlight("a").get(0);
        get(store.jobs.retry(job, START_MS + 1000, true, "broken"));

        assertThat(store.changesOf(() -> reschedule("a", 2000)))
                .containsExactlyInAnyOrder("~ b:M+0 a = T+1000 > T+2000", "~ r a due=T+1000>T+2000");
    }

    @Test
    @Replies({"reschedule RUNNING", "reschedule ENDED", "reschedule NOT_FOUND", "reschedule NEWER"})
    void shouldSayWhyAJobCannotBeMoved() {
        seedWhatCannotMove();
        store.schedule("cancelled", 0);
        cancel("cancelled");

        assertThat(store.changesOf(() -> {
                    assertThat(reschedule("running", 60_000)).isEqualTo(outcome(Status.RUNNING));
                    assertThat(reschedule("done", 60_000)).isEqualTo(new MoveOutcome(Status.ENDED, JobState.DONE));
                    assertThat(reschedule("dead", 60_000)).isEqualTo(new MoveOutcome(Status.ENDED, JobState.DEAD));
                    assertThat(reschedule("cancelled", 60_000))
                            .isEqualTo(new MoveOutcome(Status.ENDED, JobState.CANCELLED));
                    assertThat(reschedule("unheard-of", 60_000)).isEqualTo(outcome(Status.NOT_FOUND));
                    assertThat(reschedule("newer", 60_000)).isEqualTo(outcome(Status.NEWER));
                }))
                .isEmpty();
    }

    @Test
    @Replies("reschedule ELSEWHERE")
    void shouldNameTheBucketOfAJobToMove() {
        store.schedule("a", 120_000);

        assertThat(store.changesOf(() -> assertThat(rescheduleFrom("a", 0, 1))
                        .containsExactly("ELSEWHERE", START_MS * 1000, "" + (START_MINUTE + 2))))
                .isEmpty();
        assertThat(rescheduleFrom("a", 2, 1)).containsExactly("MOVED", START_MS * 1000);
        assertThat(rescheduleFrom("a", 2, 1)).as("the very same call again").startsWith("ELSEWHERE");
    }

    private void seedWhatCannotMove() {
        store.dead("dead");
        store.schedule("done", -1);
        store.schedule("running", 0);
        store.claim(0, 9);
        List<HandedJob> jobs = store.pop(0, 9, 2, 2).jobs();
        get(store.jobs.ack(store.shard(), List.of(jobs.get(0)), RETENTION));
        store.schedule("newer", 0);
        store.makeNewer("newer");
    }

    private MoveOutcome cancel(String id) {
        return cancel(id, RETENTION);
    }

    private MoveOutcome cancel(String id, Duration retention) {
        return get(store.jobs.cancel(store.shard(), id, retention, soon()));
    }

    private MoveOutcome reschedule(String id, long afterMs) {
        return get(store.jobs.reschedule(store.shard(), id, START_MS + afterMs, soon()));
    }

    private static MoveOutcome outcome(Status status) {
        return new MoveOutcome(status, null, status == Status.NOT_FOUND ? 1 : 0);
    }

    private List<Object> cancelIn(String id, long minutesAhead) {
        String member = ShardMap.memberOf(id);
        return store.run(new Call(Script.CANCEL)
                .key(store.keys.bucket(store.bucket(minutesAhead)))
                .key(store.keys.index(store.shard()))
                .key(store.keys.ledger(store.shard()))
                .key(store.keys.records(store.shard(), member))
                .key(store.keys.end(store.shard(), id))
                .arg(member)
                .arg(START_MINUTE + minutesAhead)
                .arg(RETENTION.toMillis()));
    }

    private List<Object> rescheduleFrom(String id, long fromAhead, long toAhead) {
        String member = ShardMap.memberOf(id);
        return store.run(new Call(Script.RESCHEDULE)
                .key(store.keys.bucket(store.bucket(fromAhead)))
                .key(store.keys.bucket(store.bucket(toAhead)))
                .key(store.keys.index(store.shard()))
                .key(store.keys.records(store.shard(), member))
                .key(store.keys.end(store.shard(), id))
                .key(store.keys.wake(store.shard()))
                .key(store.keys.ledger(store.shard()))
                .arg(member)
                .arg(START_MINUTE + fromAhead)
                .arg(START_MS + toAhead * 60_000)
                .arg(START_MINUTE + toAhead)
                .arg(0));
    }
}

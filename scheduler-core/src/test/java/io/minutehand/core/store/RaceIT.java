package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.VISIBILITY;
import static io.minutehand.core.store.TestStore.digest;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.newJob;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobState;
import io.minutehand.core.store.ScheduleOutcome.Item;
import io.minutehand.core.store.ScheduleOutcome.ItemStatus;
import io.minutehand.core.topic.TopicSettings;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two processes at once on one shard: whichever order comes about, both get a true answer and the shard stays whole. */
class RaceIT {
    private static final MoveOutcome RUNNING = new MoveOutcome(MoveOutcome.Status.RUNNING, null);

    private static TestStore store;
    private static StoreConnection another;
    private static JobStore jobs;
    private static JobStore otherJobs;
    private static LeaseStore leases;
    private static LeaseStore otherLeases;
    private static NodeId node;
    private static NodeId otherNode;
    private static Race race;

    /** What a round handed out, for the ack that follows. */
    private HandedJob handed;

    private long diedAt;

    @BeforeAll
    static void open() {
        store = TestStore.open();
        store.freshShard();
        another = store.another();
        jobs = store.jobs;
        leases = store.leases;
        otherJobs = another.jobs(Runnable::run);
        otherLeases = another.leases(Runnable::run);
        node = store.node(1);
        otherNode = new NodeId(another.clientId(), 2);
        race = new Race();
    }

    @AfterAll
    static void close() {
        race.close();
        another.close();
        store.close();
    }

    @Test
    void shouldGiveALeaseToOneOfTwoNodes() {
        race.run(
                "claim against claim",
                Race.ROUNDS,
                round -> empty(),
                round -> get(
                        round % 2 == 0
                                ? leases.claim(store.bucket(0), node, LEASE)
                                : leases.claimByScript(store.bucket(0), node, LEASE)),
                round -> get(
                        round % 4 < 2
                                ? otherLeases.claim(store.bucket(0), otherNode, LEASE)
                                : otherLeases.claimByScript(store.bucket(0), otherNode, LEASE)),
                (round, both) -> {
                    assertThat(both.left()).isNotEqualTo(both.right());
                    String holder = both.left() ? "C:1" : another.clientId() + ":2";
                    assertThat(whole().line("lease:M+0 " + holder)).isEqualTo("1");
                    return both.left();
                });
    }

    @Test
    void shouldGiveABucketToOneOfTwoNodes() {
        race.run(
                "claim and pop against claim and pop",
                Race.ROUNDS,
                round -> seed("a"),
                round -> claimAndPop(jobs, leases, node),
                round -> claimAndPop(otherJobs, otherLeases, otherNode),
                (round, both) -> {
                    boolean left = both.left().status() == Handout.Status.OK;
                    assertThat(both.right().status()).isEqualTo(left ? Handout.Status.FENCED : Handout.Status.OK);
                    assertThat(PopIT.ids(left ? both.left() : both.right())).containsExactly("a");
                    whole();
                    return left;
                });
    }

    @Test
    void shouldHandOutEachJobOnceWhenABucketChangesHands() {
        race.run(
                "pop against break, claim and pop",
                Race.ROUNDS,
                round -> {
                    seed("a", "b");
                    return get(leases.claim(store.bucket(0), node, LEASE));
                },
                round -> get(jobs.pop(store.bucket(0), node, 1, 10, VISIBILITY)),
                round -> {
                    get(otherLeases.breakLeases(store.shard(), List.of(START_MINUTE), "1"));
                    return claimAndPop(otherJobs, otherLeases, otherNode);
                },
                (round, both) -> {
                    assertThat(both.right().status()).isEqualTo(Handout.Status.OK);
                    boolean left = both.left().status() == Handout.Status.OK;
                    assertThat(both.left().jobs()).hasSize(left ? 2 : 0);
                    assertThat(both.right().jobs()).hasSize(left ? 0 : 2);
                    whole();
                    return left;
                });
    }

    @Test
    void shouldEitherCancelAJobOrHandItOut() {
        race.run(
                "cancel against pop",
                Race.ROUNDS,
                round -> claimed("a"),
                round -> get(otherJobs.cancel(store.shard(), "a", RETENTION, soon())),
                round -> get(jobs.pop(store.bucket(0), node, 1, 10, VISIBILITY)),
                (round, both) -> {
                    boolean cancelled = both.left().status() == MoveOutcome.Status.CANCELLED;
                    assertThat(both.left()).isEqualTo(cancelled ? both.left() : RUNNING);
                    assertThat(both.right().jobs()).hasSize(cancelled ? 0 : 1);
                    ShardImage image = whole();
                    assertThat(image.line("end:a")).isEqualTo(cancelled ? "C 3100000000000000" : null);
                    assertThat(image.line("buckets M+0")).isNull();
                    return cancelled;
                });
    }

    @Test
    void shouldEitherMoveAJobOrHandItOut() {
        race.run(
                "reschedule against pop",
                Race.ROUNDS,
                round -> claimed("a"),
                round -> get(otherJobs.reschedule(
                        store.shard(), "a", START_MS + (round % 2 == 0 ? 90_000 : 10_000), soon())),
                round -> get(jobs.pop(store.bucket(0), node, 1, 10, VISIBILITY)),
                (round, both) -> {
                    boolean moved = both.left().status() == MoveOutcome.Status.MOVED;
                    assertThat(both.left()).isEqualTo(moved ? both.left() : RUNNING);
                    assertThat(both.right().jobs()).hasSize(moved ? 0 : 1);
                    ShardImage image = whole();
                    assertThat(image.line(round % 2 == 0 ? "b:M+1 a" : "b:M+0 a"))
                            .isEqualTo(!moved ? null : round % 2 == 0 ? "T+90000" : "T+10000");
                    return moved;
                });
    }

    @Test
    void shouldStoreAnIdOfTwoProducersOnce() {
        race.run(
                "same id from two producers",
                Race.ROUNDS,
                round -> empty(),
                round -> schedule(jobs, newJob("a", 0)),
                round -> schedule(
                        otherJobs,
                        new NewJob(
                                "a",
                                START_MS + round % 3 * 60_000,
                                digest(round % 2 == 0 ? "1" : "2"),
                                false,
                                TestStore.body("body"),
                                0)),
                (round, both) -> {
                    ItemStatus second = round % 2 == 0 ? ItemStatus.EXISTS : ItemStatus.CONFLICT;
                    boolean left = both.left().status() == ItemStatus.CREATED;
                    assertThat(left ? both.right() : both.left()).isEqualTo(new Item(second, JobState.PENDING, 0));
                    assertThat((left ? both.left() : both.right()).status()).isEqualTo(ItemStatus.CREATED);
                    assertThat(whole().line("ledger accepted")).isEqualTo("1");
                    return left;
                });
    }

    @Test
    void shouldEndAJobOnceWhenItsLeaseIsLostBetweenPopAndAck() {
        race.run(
                "ack against break and recover",
                Race.ROUNDS,
                round -> handed("a"),
                round ->
                        get(jobs.ack(store.shard(), List.of(handed), RETENTION)).get(0),
                round -> breakAndRecover(),
                (round, both) -> {
                    assertThat(both.right().jobs()).hasSize(both.left() ? 0 : 1);
                    whole();
                    if (!both.left()) {
                        assertThat(get(otherJobs.ack(store.shard(), both.right().jobs(), RETENTION)))
                                .containsExactly(true);
                    }
                    ShardImage image = whole();
                    assertThat(image.line("ledger done")).isEqualTo("1");
                    return both.left();
                });
    }

    @Test
    void shouldRetryOrHandOverAJobWhoseNodeWasFoundDead() {
        race.run(
                "retry against break and recover",
                Race.FEWER,
                round -> handed("a"),
                round -> get(jobs.retry(handed, START_MS + 1000, true, "broken")),
                round -> breakAndRecover(),
                (round, both) -> {
                    assertThat(both.right().jobs()).hasSize(both.left() ? 0 : 1);
                    assertThat(whole().line("b:M+0 a")).isEqualTo(both.left() ? "T+1000" : null);
                    return both.left();
                });
    }

    @Test
    void shouldBuryOrHandOverAJobWhoseNodeWasFoundDead() {
        race.run(
                "bury against break and recover",
                Race.FEWER,
                round -> handed("a"),
                round -> get(jobs.bury(handed, "broken", TopicSettings.defaults())),
                round -> breakAndRecover(),
                (round, both) -> {
                    assertThat(both.left()).isEqualTo(both.left().isPresent() ? Optional.of(0) : Optional.empty());
                    assertThat(both.right().jobs()).hasSize(both.left().isPresent() ? 0 : 1);
                    assertThat(whole().line("dead a")).isEqualTo(both.left().isPresent() ? "T+0" : null);
                    return both.left().isPresent();
                });
    }

    @Test
    void shouldNeverStrandAJobAddedToABucketThatIsDrainedEmpty() {
        race.run(
                "add against the last pop of a bucket",
                Race.ROUNDS,
                round -> claimed("last"),
                round -> schedule(otherJobs, newJob("added", round % 2 == 0 ? 0 : 5000)),
                round -> get(jobs.pop(store.bucket(0), node, 1, 10, VISIBILITY)),
                (round, both) -> {
                    boolean due = round % 2 == 0;
                    assertThat(both.left()).isEqualTo(new Item(ItemStatus.CREATED, null, 0));
                    List<String> popped = PopIT.ids(both.right());
                    boolean addedFirst =
                            due ? popped.contains("added") : both.right().next() == START_MS + 5000;
                    assertThat(popped).contains("last").hasSize(due && addedFirst ? 2 : 1);
                    boolean waits = !popped.contains("added");
                    ShardImage image = whole();
                    assertThat(image.line("b:M+0 added") != null).isEqualTo(waits);
                    assertThat(image.line("buckets M+0") != null)
                            .as("the bucket is in the index")
                            .isEqualTo(waits);
                    return addedFirst;
                });
    }

    @Test
    void shouldRedriveOrPurgeADeadLetter() {
        race.run(
                "redrive against purge",
                Race.FEWER,
                round -> {
                    handed("a");
                    get(jobs.bury(handed, "broken", TopicSettings.defaults()));
                    return diedAt = START_MS;
                },
                round -> get(jobs.redrive(store.shard(), "a", diedAt, START_MS)),
                round -> get(otherJobs.purge(store.shard(), "a", diedAt)),
                (round, both) -> {
                    assertThat(both.left()).isNotEqualTo(both.right());
                    assertThat(whole().line("b:M+0 a")).isEqualTo(both.left() ? "T+0" : null);
                    return both.left();
                });
    }

    @Test
    void shouldCancelAJobThatIsMovedAtTheSameTime() {
        race.run(
                "reschedule against cancel",
                Race.FEWER,
                round -> seed("a"),
                round -> get(jobs.reschedule(store.shard(), "a", START_MS + 60_000, soon())),
                round -> get(otherJobs.cancel(store.shard(), "a", RETENTION, soon())),
                (round, both) -> {
                    boolean moved = both.left().status() == MoveOutcome.Status.MOVED;
                    assertThat(both.left())
                            .isEqualTo(
                                    moved
                                            ? both.left()
                                            : new MoveOutcome(MoveOutcome.Status.ENDED, JobState.CANCELLED));
                    assertThat(both.right()).isEqualTo(new MoveOutcome(MoveOutcome.Status.CANCELLED, null));
                    assertThat(whole().toString()).doesNotContain("b:", "buckets");
                    return moved;
                });
    }

    /** The shard after a round: whatever happened, its invariants hold. */
    private static ShardImage whole() {
        ShardImage image = store.image();
        assertThat(ShardInvariants.broken(image)).as("invariants of\n%s", image).isEmpty();
        return image;
    }

    private static boolean empty() {
        store.emptyShard();
        return true;
    }

    private static boolean seed(String... ids) {
        empty();
        for (String id : ids) {
            store.schedule(id, 0);
        }
        return true;
    }

    private static boolean claimed(String id) {
        seed(id);
        return get(leases.claim(store.bucket(0), node, LEASE));
    }

    private HandedJob handed(String id) {
        claimed(id);
        handed = get(jobs.pop(store.bucket(0), node, 1, 1, VISIBILITY)).jobs().get(0);
        return handed;
    }

    private static Item schedule(JobStore by, NewJob job) {
        return get(by.schedule(store.shard(), 1, List.of(job))).items().get(0);
    }

    private static Handout claimAndPop(JobStore by, LeaseStore claims, NodeId as) {
        get(claims.claim(store.bucket(0), as, LEASE));
        return get(by.pop(store.bucket(0), as, 1, 10, VISIBILITY));
    }

    private static Handout breakAndRecover() {
        get(otherLeases.breakLeases(store.shard(), List.of(START_MINUTE), "1"));
        return get(otherJobs.recover(store.shard(), otherNode, 1, 10, VISIBILITY, "1", 0));
    }
}

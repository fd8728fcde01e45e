package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.Job;
import io.minutehand.core.topic.TopicSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class DeadLetterIT {
    private final TestStore store;

    DeadLetterIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("redrive OK")
    void shouldGiveADeadLetterAnotherLife() {
        store.dead("a");
        store.now(START_MS + 1);

        assertThat(store.changesOf(() -> assertThat(redrive("a", 0, 60_000)).isTrue()))
                .containsExactlyInAnyOrder(
                        "+ b:M+1 a = T+60000",
                        "+ buckets M+1 = M+1",
                        "- dead a",
                        "~ ledger pending = 0 > 1",
                        "+ ledger redriven = 1",
                        "~ r a state=X>P delivery=1>0 minute=M+0>M+1 due=T+0>T+60000 reason=broken>");
        Job job = get(store.jobs.find(store.shard(), "a", soon())).orElseThrow().job();
        assertThat(job.payload()).asString().isEqualTo("body");
        assertThat(job.lastFailure()).isNull();
    }

    @Test
    void shouldBeginAtTheFirstAttemptAgain() {
        HandedJob first = store.inFlight("a").get(0);
        get(store.jobs.retry(first, START_MS, true, "broken"));
        HandedJob second = store.pop(0, 1, 2, 1).jobs().get(0);
        get(store.jobs.bury(second, "broken", TopicSettings.defaults()));

        redrive("a", 0, 0);

        assertThat(store.image().line("r a")).startsWith("state=P attempt=1 delivery=0");
    }

    @Test
    @Replies("redrive NOT_FOUND")
    void shouldNotRedriveWhatIsNotThatDeadLetter() {
        store.dead("a");
        store.dead("newer");
        store.dead("lost");
        store.schedule("pending", 0);
        store.makeNewer("newer");
        store.loseRecord("lost");

        assertThat(store.changesOf(() -> {
                    assertThat(redrive("a", 1, 0)).as("died another time").isFalse();
                    assertThat(redrive("pending", 0, 0)).isFalse();
                    assertThat(redrive("unheard-of", 0, 0)).isFalse();
                    assertThat(redrive("newer", 0, 0)).isFalse();
                    assertThat(redrive("lost", 0, 0)).isFalse();
                }))
                .isEmpty();
        redrive("a", 0, 60_000);
        assertThat(store.changesOf(
                        () -> assertThat(redrive("a", 0, 60_000)).as("a repeat").isFalse()))
                .isEmpty();
    }

    @Test
    @Replies("purge OK")
    void shouldForgetADeadLetter() {
        store.dead("a");
        store.dead("lost");
        store.loseRecord("lost");

        assertThat(store.changesOf(() -> assertThat(purge("a", 0)).isTrue()))
                .containsExactlyInAnyOrder("- dead a", "+ ledger purged = 1", "- r a");
        assertThat(store.changesOf(() -> assertThat(purge("lost", 0)).isTrue()))
                .containsExactlyInAnyOrder("- dead lost", "~ ledger purged = 1 > 2");
    }

    @Test
    @Replies("purge NOT_FOUND")
    void shouldNotPurgeWhatIsNotThatDeadLetter() {
        store.dead("a");
        store.schedule("pending", 0);

        assertThat(store.changesOf(() -> {
                    assertThat(purge("a", 1)).as("died another time").isFalse();
                    assertThat(purge("pending", 0)).isFalse();
                    assertThat(purge("unheard-of", 0)).isFalse();
                }))
                .isEmpty();
        purge("a", 0);
        assertThat(store.changesOf(
                        () -> assertThat(purge("a", 0)).as("a repeat").isFalse()))
                .isEmpty();
    }

    private boolean redrive(String id, long diedAfterMs, long dueAfterMs) {
        return get(store.jobs.redrive(store.shard(), id, START_MS + diedAfterMs, START_MS + dueAfterMs));
    }

    private boolean purge(String id, long diedAfterMs) {
        return get(store.jobs.purge(store.shard(), id, START_MS + diedAfterMs));
    }
}

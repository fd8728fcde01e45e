package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.newJob;
import static io.minutehand.core.store.TestStore.replacement;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.LeaseStore.Wake;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Hints: whoever makes a job the first of its bucket, soon, says so; nobody else does. */
@ExtendWith(SharedTestStore.class)
class WakeIT {
    private static final long HORIZON_MS = JobStore.WAKE_HORIZON_MS;

    private final TestStore store;
    private RedisCommands listener;

    WakeIT(TestStore store) {
        this.store = store;
    }

    @BeforeEach
    void listen() {
        listener = store.serverOf(store.keys.wake(store.shard()));
        listener.call("SSUBSCRIBE", store.keys.wake(store.shard()));
    }

    @AfterEach
    void close() {
        listener.close();
    }

    @Test
    void shouldHintAtAJobThatBecomesTheFirstOfItsBucketSoon() {
        assertThat(hints(() -> store.schedule("a", 1000))).containsExactly(hint(0, 1000));
        assertThat(hints(() -> store.schedule("b", 1001))).as("not the first").isEmpty();
        assertThat(hints(() -> store.schedule("c", 1000))).as("not sooner").isEmpty();
        assertThat(hints(() -> store.schedule("d", 999))).containsExactly(hint(0, 999));
        assertThat(hints(() -> store.schedule("e", -90_000))).containsExactly(hint(0, -90_000));
        assertThat(hints(() -> store.schedule("a", 1000))).as("a repeat").isEmpty();
    }

    @Test
    void shouldHintOnlyAtJobsWithinTheHorizon() {
        assertThat(hints(() -> store.schedule("a", HORIZON_MS + 1))).isEmpty();
        assertThat(hints(() -> store.schedule("b", HORIZON_MS))).containsExactly(hint(0, HORIZON_MS));
    }

    @Test
    void shouldHintOnceABucketOfABatch() {
        store.now(START_MS + 39_000);

        assertThat(hints(() -> get(store.jobs.schedule(
                        store.shard(),
                        1,
                        List.of(newJob("a", 39_900), newJob("b", 39_500), newJob("c", 40_100), newJob("d", 40_050))))))
                .containsExactlyInAnyOrder(hint(0, 39_500), hint(1, 40_050));
    }

    @Test
    void shouldHintAtARescheduledJob() {
        store.schedule("a", 120_000);
        assertThat(hints(() -> store.schedule("b", 1000))).containsExactly(hint(0, 1000));

        assertThat(hints(() -> reschedule("a", 1500))).isEmpty();
        assertThat(hints(() -> reschedule("a", 500))).containsExactly(hint(0, 500));
        assertThat(hints(() -> reschedule("a", 500))).as("a repeat").isEmpty();
        assertThat(hints(() -> reschedule("a", 60_000))).as("later").isEmpty();
    }

    @Test
    void shouldHintAtAReplacedJob() {
        store.schedule("a", 120_000);

        assertThat(hints(() -> store.schedule(replacement("a", 500, "2", 2)))).containsExactly(hint(0, 500));
        assertThat(hints(() -> store.schedule(replacement("a", 400, "3", 0)))).containsExactly(hint(0, 400));
        assertThat(hints(() -> store.schedule(replacement("a", 600, "4", 0))))
                .as("later")
                .isEmpty();
    }

    @Test
    void shouldHintAtJobsThatComeBack() {
        List<HandedJob> jobs = store.inFlight("a", "b", "c");
        assertThat(hints(() -> {})).as("of a, b and c").containsExactly(hint(0, 0));
        get(store.jobs.bury(jobs.get(2), "", TopicSettings.defaults()));

        assertThat(hints(() -> get(store.jobs.retry(jobs.get(0), START_MS + 5000, true, ""))))
                .as("far")
                .isEmpty();
        assertThat(hints(() -> get(store.jobs.retry(jobs.get(1), START_MS + 1000, true, ""))))
                .containsExactly(hint(0, 1000));
        assertThat(hints(() -> get(store.jobs.redrive(store.shard(), "c", START_MS, START_MS + 900))))
                .containsExactly(hint(0, 900));
    }

    @Test
    void shouldTellListenersUntilTheyEnd() {
        Queue<Wake> heard = new ConcurrentLinkedQueue<>();
        Runnable end = get(store.leases.onWake(store.shard(), heard::add));

        store.schedule("a", 1000);
        await("the hint arrives").until(() -> !heard.isEmpty());
        assertThat(heard).containsExactly(new Wake(store.shard(), START_MINUTE, START_MS + 1000));

        end.run();
        try (RedisCommands server = store.serverOf(store.keys.wake(store.shard()))) {
            await("the channel is left")
                    .until(() -> server.texts("PUBSUB", "SHARDNUMSUB", store.keys.wake(store.shard()))
                            .get(1)
                            .equals("1"));
        }
        store.schedule("b", 900);
        assertThat(hints(() -> {})).contains(hint(0, 900));
        assertThat(heard).hasSize(1);
    }

    /** What is published while {@code act} runs: a message of the test's own marks the end. */
    private List<String> hints(Runnable act) {
        act.run();
        store.redis.call("SPUBLISH", store.keys.wake(store.shard()), "end");
        List<String> hints = new ArrayList<>();
        while (true) {
            List<?> message = (List<?>) listener.receive();
            String text = new String((byte[]) message.get(2), StandardCharsets.UTF_8);
            if (text.equals("end")) {
                return hints;
            }
            hints.add(text);
        }
    }

    private static String hint(long minutesAhead, long afterMs) {
        return START_MINUTE + minutesAhead + " " + (START_MS + afterMs);
    }

    private void reschedule(String id, long afterMs) {
        get(store.jobs.reschedule(store.shard(), id, START_MS + afterMs, soon()));
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.admin.Admin;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.worker.Runs.Run;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Topics that are paused and resumed while jobs flow. */
class PauseIT {
    private static final Duration LONG = Duration.ofSeconds(40);

    /** Nodes read the settings every 0.8 s; the rest is for machines that do much else. */
    private static final long KNOWN_MS = 3000;

    private static final TopicSettings SETTINGS =
            TopicSettings.defaults().withShards(4).withVisibility(Duration.ofSeconds(1));

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private Jobs jobs;
    private Admin admin;

    @BeforeEach
    void open() {
        jobs = new Jobs(redis, "orders", SETTINGS);
        admin = new Admin(jobs.connection(), Duration.ofSeconds(10));
    }

    @AfterEach
    void close() {
        workers.close();
        jobs.close();
    }

    private StoredTopic topic() {
        return admin.topic("orders").orElseThrow();
    }

    @Test
    void shouldTakeNothingWhilePausedAndLoseAndRepeatNothing() {
        for (String name : List.of("n0", "n1", "n2")) {
            workers.start(name, "orders", runs.handler(name));
        }
        int sent = 0;
        while (runs.size() < 50) {
            jobs.now("before-" + sent++);
        }
        StoredTopic paused = admin.pause(topic(), null);
        long pausedMs = jobs.nowMs();
        assertThat(paused.pausedUntilMs()).isEqualTo(StoredTopic.UNTIL_RESUMED);
        while (jobs.nowMs() < pausedMs + KNOWN_MS) {
            jobs.now("paused-" + sent++);
        }
        long resumedMs = jobs.nowMs();
        assertThat(admin.resume(topic()).pausedUntilMs()).isZero();
        while (jobs.nowMs() < resumedMs + 500) {
            jobs.now("after-" + sent++);
        }
        int all = sent;
        await("all have run").atMost(LONG).until(() -> runs.size() >= all && jobs.counter("done") == all);

        List<Run> inPause = runs.all().stream()
                .filter(run -> run.startedMs() > pausedMs && run.startedMs() < resumedMs)
                .toList();
        long lastMs = inPause.stream().mapToLong(Run::startedMs).max().orElse(pausedMs);
        long firstMs = runs.all().stream()
                .mapToLong(Run::startedMs)
                .filter(ms -> ms >= resumedMs)
                .min()
                .orElseThrow();
        System.out.printf(
                "pause: jobs=%d, started in the pause %d, the last after %d ms; resumed after %d ms%n",
                all, inPause.size(), lastMs - pausedMs, firstMs - resumedMs);
        assertThat(lastMs - pausedMs).isLessThanOrEqualTo(KNOWN_MS);
        assertThat(runs.ids()).hasSize(all);
        assertThat(runs.size()).as("none ran twice").isEqualTo(all);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldNotTakeOverWhatADeadNodeHadWhilePaused() {
        jobs.now("stranded");
        FakeNode dead = new FakeNode(jobs);
        await("a node that does nothing has it")
                .atMost(LONG)
                .until(() -> !dead.popAll(SETTINGS.visibility()).isEmpty());
        admin.pause(topic(), null);
        workers.start("n0", "orders", runs.handler("n0"));
        long startedMs = jobs.nowMs();
        // Something else has the node at work, and tells when the deadline is past for sure.
        while (jobs.nowMs() < startedMs + 3 * SETTINGS.visibility().toMillis()) {
            jobs.now("due-" + jobs.nowMs());
        }
        assertThat(runs.size()).isZero();

        admin.resume(topic());

        await("it is taken over").atMost(LONG).until(() -> runs.ids().contains("stranded"));
        assertThat(runs.of("stranded")).extracting(Run::delivery).containsExactly(2);
    }

    @Test
    void shouldGoOnByItselfAfterTheTimeThatWasGiven() {
        StoredTopic paused = admin.pause(topic(), Duration.ofSeconds(2));
        workers.start("n0", "orders", runs.handler("n0"));
        jobs.now("a");

        await("the pause is over").atMost(LONG).until(() -> runs.size() == 1);

        assertThat(runs.all().get(0).startedMs()).isGreaterThanOrEqualTo(paused.pausedUntilMs());
        assertThat(topic().paused(jobs.nowMs())).isFalse();
    }
}

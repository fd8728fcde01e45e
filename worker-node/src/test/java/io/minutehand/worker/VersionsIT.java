package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobState;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.TestScripts;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Records that only newer nodes can read, among others. */
class VersionsIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final RedisOptions redis = Workers.ownNamespace();
    private final Runs runs = new Runs();
    private final Runs newerRuns = new Runs();

    /** Scripts that read version 2, too, and hand its records out as version 1, which this code's Java reads. */
    private static String readBoth(String name, String text) {
        if (!name.equals("lib/record")) {
            return text;
        }
        String both = text.replace("string.byte(record) == VERSION and", "string.byte(record) <= 2 and");
        String handedOut = both.replace("return string.sub(record, 1, 1) .. 'I'", "return string.char(VERSION) .. 'I'");
        assertThat(handedOut)
                .as("the edits still find their places")
                .isNotEqualTo(both)
                .isNotEqualTo(text);
        assertThat(both).isNotEqualTo(text);
        return handedOut;
    }

    @Test
    void shouldLeaveNewerRecordsToNewerNodesAndRunTheRest() {
        TopicSettings settings = TopicSettings.defaults().withShards(1);
        try (Jobs jobs = new Jobs(redis, "orders", settings);
                Workers workers = new Workers(redis)) {
            WorkerNode old = workers.start("old", "orders", runs.handler("old"));
            await("old owns the shard").atMost(LONG).until(() -> old.stats().ownedShards() == 1);
            List<StoreConnection> connections = new ArrayList<>();
            try {
                // The harder case: the old node stays the shard's owner, the newer is next in rank.
                WorkerNode newer = newerNode(connections);
                while (ownedSoon(old, newer) != 1) {
                    newer.close();
                    newer = newerNode(connections);
                }
                workers.add(newer);
                long dueMs = jobs.nowMs() + 1000;
                jobs.schedule("newer", dueMs, "{}");
                Records.version(jobs, "newer", 2);
                for (int i = 0; i < 20; i++) {
                    jobs.schedule("readable-" + i, dueMs + 100L * i, "{}");
                }
                await("left alone and counted").atMost(LONG).until(() -> workers.counted(Counter.SKIPPED_NEWER) > 0);
                assertThat(jobs.counter("pending")).isGreaterThanOrEqualTo(1);
                await("readable ones flow").atMost(LONG).until(() -> runs.size() + newerRuns.size() >= 20);
                assertThat(runs.worstLatenessMs())
                        .as("readable ones are kept up")
                        .isLessThan(2500);
                assertThat(runs.of("newer")).isEmpty();
                // Put off by 10 s, and then the newer node steps in: a second and a look later.
                await("handed to the newer node")
                        .atMost(LONG)
                        .until(() -> !newerRuns.of("newer").isEmpty());
                System.out.println("versions: the newer node had it after ms=" + newerRuns.worstLatenessMs()
                        + " older skipped=" + old.stats().counted(Counter.SKIPPED_NEWER));
                await("done").atMost(LONG).until(() -> jobs.counter("done") == 21);
                assertThat(jobs.find("newer").orElseThrow().state()).isEqualTo(JobState.DONE);
                assertThat(runs.of("newer")).isEmpty();
                assertThat(runs.duplicates() + newerRuns.duplicates()).isZero();
                assertThat(jobs.missing()).isZero();
            } finally {
                workers.close();
                connections.forEach(StoreConnection::close);
            }
        }
    }

    private WorkerNode newerNode(List<StoreConnection> connections) {
        StoreConnection connection = TestScripts.open(redis, VersionsIT::readBoth);
        connections.add(connection);
        return WorkerNode.builder()
                .settings(Workers.FAST)
                .connection(connection)
                .name("newer")
                .handle("orders", newerRuns.handler("newer"))
                .start();
    }

    /** How many shards the first owns once both know of each other. */
    private static int ownedSoon(WorkerNode old, WorkerNode newer) {
        await("the shard has one owner")
                .atMost(LONG)
                .until(() -> old.stats().ownedShards() + newer.stats().ownedShards() == 1 && newer.ready());
        return old.stats().ownedShards();
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Jobs that were handed out before without an answer. */
class SuspectsIT {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final long PAUSE_MS = 800;

    private final AtomicLong pausedNs = new AtomicLong();
    private final AtomicLong secondStartedNs = new AtomicLong();

    /** If the second ended the node before the end of the first is stored, the first would come back as a suspect, innocent. */
    @Test
    void shouldNotStartTheNextBeforeRedisKnowsHowTheOneBeforeEnded() {
        try (RedisServer server = RedisServer.start();
                RedisCommands commands = server.connect()) {
            RedisOptions redis = Workers.ownNamespace(server.uri()).withReplyTimeout(Duration.ofSeconds(5));
            try (Jobs jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(1));
                    Workers workers = new Workers(redis)) {
                long dueMs = jobs.nowMs();
                jobs.schedule("a", dueMs, "{}");
                jobs.schedule("b", dueMs + 1, "{}");
                Records.delivered(commands, jobs, "a", 1);
                Records.delivered(commands, jobs, "b", 1);
                workers.start("n0", "orders", (payload, job) -> {
                    if (pausedNs.compareAndSet(0, System.nanoTime())) {
                        // From here on Redis answers nobody for a while: the ack of this job waits.
                        commands.call("CLIENT", "PAUSE", PAUSE_MS, "ALL");
                    } else {
                        secondStartedNs.compareAndSet(0, System.nanoTime());
                    }
                });
                await("both done").atMost(LONG).until(() -> jobs.counter("done") == 2);

                assertThat(secondStartedNs.get() - pausedNs.get())
                        .as("ns between the starts")
                        .isGreaterThan(Duration.ofMillis(PAUSE_MS - 50).toNanos());
                assertThat(jobs.missing()).isZero();
            }
        }
    }
}

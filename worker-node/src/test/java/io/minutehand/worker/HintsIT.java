package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A subscription that the client has lost and does not renew. */
class HintsIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Runs runs = new Runs();
    private final AtomicInteger number = new AtomicInteger();

    @Test
    void shouldListenAnewWhenHintsStayAway() {
        try (RedisServer server = RedisServer.start();
                RedisCommands commands = server.connect()) {
            commands.call("ACL", "SETUSER", "minutehand", "on", ">hints-password", "~*", "&*", "+@all");
            RedisOptions asAdministrator = Workers.ownNamespace(server.uri());
            RedisOptions redis = RedisOptions.of("redis://minutehand:hints-password@127.0.0.1:" + server.port())
                    .withNamespace(asAdministrator.namespace());
            try (Jobs jobs = new Jobs(
                            asAdministrator, "orders", TopicSettings.defaults().withShards(1));
                    Workers workers = new Workers(redis)) {
                workers.start("n0", "orders", runs.handler("n0"));
                awaitHint(jobs, workers);

                // Redis ends a connection that listens to what its user may not hear, and refuses its successors.
                commands.call("ACL", "SETUSER", "minutehand", "resetchannels");
                await("nobody listens").atMost(LONG).until(() -> listeners(commands) == 0);
                long heard = workers.counted(Counter.WOKEN);
                run(jobs, 50);
                assertThat(workers.counted(Counter.WOKEN))
                        .as("hints without a subscription")
                        .isEqualTo(heard);
                commands.call("ACL", "SETUSER", "minutehand", "&*");

                awaitHint(jobs, workers);
                assertThat(listeners(commands)).isPositive();
                assertThat(jobs.missing()).isZero();
            }
        }
    }

    /** Schedules jobs that are due soon, one after another, until one of them is hinted. */
    private void awaitHint(Jobs jobs, Workers workers) {
        long heard = workers.counted(Counter.WOKEN);
        await("hints are heard").atMost(LONG).until(() -> {
            run(jobs, 50);
            return workers.counted(Counter.WOKEN) > heard;
        });
    }

    private void run(Jobs jobs, long afterMs) {
        String id = "job-" + number.getAndIncrement();
        jobs.schedule(id, jobs.nowMs() + afterMs, "{}");
        await(id + " runs, by a look if need be")
                .atMost(LONG)
                .until(() -> runs.ids().contains(id));
    }

    private static long listeners(RedisCommands commands) {
        return (long) commands.texts("PUBSUB", "SHARDCHANNELS").size()
                + commands.texts("PUBSUB", "CHANNELS").size();
    }
}

package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.LinkProxy.Direction;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A node whose requests reach Redis while it hears nothing. */
class CutOffIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void shouldNotLookAliveWhenItHearsNothing() {
        try (RedisServer server = RedisServer.start();
                LinkProxy link = LinkProxy.before(server);
                RedisCommands commands = server.connect()) {
            RedisOptions direct = Workers.ownNamespace(server.uri());
            String nodes = new Keyspace(direct.namespace()).nodes();
            try (Workers workers = new Workers(direct)) {
                WorkerNode other = workers.start("other", "orders", (payload, job) -> {});
                WorkerNode cut = workers.start(
                        "cut",
                        builder -> builder.redis(RedisOptions.of(link.uri()).withNamespace(direct.namespace()))
                                .handle("orders", (payload, job) -> {}));
                await("share the shards")
                        .atMost(LONG)
                        .until(() ->
                                cut.stats().ownedShards() > 0 && other.stats().ownedShards() < 8);
                String id = cut.id();

                link.blackHole(Direction.TO_CLIENT);

                long first = beats(commands, nodes, id);
                long last = first;
                // Looked at all the time: when it is found dead its score is gone.
                for (long now = first; now >= 0; now = beats(commands, nodes, id)) {
                    last = now;
                }
                System.out.println("beats without an answer: " + (last - first));
                // One may have been on its way, and one more is sent before the silence is a gap.
                assertThat(last - first).as("beats without an answer").isLessThanOrEqualTo(2);
                await("the other has all shards")
                        .atMost(LONG)
                        .until(() -> other.stats().ownedShards() == 8);

                link.resetAll();
                link.pass();
                await("comes back under another id")
                        .atMost(LONG)
                        .until(() -> cut.ready()
                                && !cut.id().equals(id)
                                && cut.stats().ownedShards() > 0);
            }
        }
    }

    /** The node's beat counter, or -1 when it is not listed. */
    private static long beats(RedisCommands commands, String nodes, String id) {
        String score = commands.text("ZSCORE", nodes, id);
        return score == null ? -1 : (long) Double.parseDouble(score) / 1000;
    }
}

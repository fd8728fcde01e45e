package io.minutehand.core.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopicRegistryIT {
    private static final TopicSettings DECLARED = TopicSettings.defaults().withShards(2);

    private RedisInstance server;
    private StoreConnection connection;
    private ClusterStore store;

    @BeforeEach
    void open() {
        server = SharedRedis.another();
        connection = StoreConnection.open(RedisOptions.of(server.uri()).withReplyTimeout(Duration.ofSeconds(5)));
        store = connection.cluster(Runnable::run);
    }

    @AfterEach
    void close() {
        connection.close();
        server.close();
    }

    private static long soon() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    }

    @Test
    void shouldDeclareATopicAsItLastStoodToARedisThatCameBackEmpty() {
        TopicRegistry registry = new TopicRegistry(store, Map.of("orders", DECLARED), false);
        StoredTopic first = registry.ensure("orders", soon()).join();
        TopicSettings changed = first.settings().withRetention(Duration.ofMinutes(7));
        store.change(first, changed, soon()).join();
        registry.refreshKnown(soon()).join();

        server.callEach("FLUSHALL");
        StoredTopic again = registry.refresh("orders", soon()).join();

        assertThat(again.settings()).isEqualTo(changed);
        assertThat(store.topics(soon()).join()).containsExactly(again);
    }

    @Test
    void shouldDeclareATopicOfOthersAgainThatItMayNotCreate() {
        TopicSettings others = TopicSettings.defaults().withShards(3);
        store.declare("orders", others, soon()).join();
        TopicRegistry registry = new TopicRegistry(store, Map.of(), false);
        registry.ensure("orders", soon()).join();

        server.callEach("FLUSHALL");

        assertThat(registry.refresh("orders", soon()).join().settings()).isEqualTo(others);
        assertThatThrownBy(() -> registry.ensure("unheard-of", soon()).join())
                .hasCauseInstanceOf(TopicRegistry.UnknownTopicException.class)
                .hasMessageContaining("topic=unheard-of");
    }

    /** One who declared it next, with another shard count, would leave the jobs in other shards without an owner. */
    @Test
    void shouldPutBackATopicThatWasTakenAway() {
        TopicRegistry registry = new TopicRegistry(store, Map.of("orders", DECLARED), false);
        StoredTopic first = registry.ensure("orders", soon()).join();
        StoredTopic resharded = first.resharded(1);
        store.change(first, resharded, soon()).join();
        registry.refreshKnown(soon()).join();

        call("DEL", connection.keys().topics());
        registry.refreshKnown(soon()).join();

        TopicRegistry newcomer = new TopicRegistry(store, Map.of("orders", TopicSettings.defaults()), true);
        assertThat(newcomer.ensure("orders", soon()).join()).isEqualTo(resharded);
        assertThat(registry.known("orders")).contains(resharded);
    }

    @Test
    void shouldLeaveSettingsAloneThatItCannotRead() {
        TopicRegistry registry = new TopicRegistry(store, Map.of("orders", DECLARED), false);
        StoredTopic first = registry.ensure("orders", soon()).join();

        call("HSET", connection.keys().topics(), "orders", "by hand");
        registry.refreshKnown(soon()).join();

        assertThat(registry.known("orders")).contains(first);
        assertThat(call("HVALS", connection.keys().topics())).containsExactly("by hand");
    }

    @Test
    void shouldTakeTheStoredSettingsBeforeItsOwn() {
        TopicSettings others = TopicSettings.defaults().withShards(3);
        store.declare("orders", others, soon()).join();
        TopicRegistry registry = new TopicRegistry(store, Map.of("orders", DECLARED), true);

        assertThat(registry.ensure("orders", soon()).join().settings()).isEqualTo(others);
        assertThat(registry.ensure("payments", soon()).join().settings()).isEqualTo(TopicSettings.defaults());
        assertThat(registry.known("orders")).isPresent();
        assertThat(registry.known("unheard-of")).isEmpty();
    }

    /** By hand, on the server that has the key. */
    private List<String> call(Object... words) {
        try (RedisCommands commands = server.connect()) {
            return commands.texts(words);
        }
    }
}

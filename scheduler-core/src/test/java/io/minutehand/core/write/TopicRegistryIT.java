package io.minutehand.core.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
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
}

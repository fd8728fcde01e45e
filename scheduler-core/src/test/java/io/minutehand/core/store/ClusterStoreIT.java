package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClusterStoreIT {
    private static final TopicSettings SETTINGS = TopicSettings.defaults()
            .withShards(3)
            .withVisibility(Duration.ofSeconds(7))
            .withHandlerTimeout(Duration.ofMillis(1))
            .withRetention(Duration.ZERO)
            .withDeadLimit(Integer.MAX_VALUE)
            .withDeadAge(Duration.ofDays(3_000))
            .withDelivery(Delivery.AT_MOST_ONCE)
            .withRetry(RetryPolicy.exponential(Duration.ofMillis(3), Duration.ofHours(2), 1000)
                    .withJitter(0.25));

    private TestStore store;

    @BeforeEach
    void open() {
        store = TestStore.onServerTime();
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    @Replies("beat OK")
    void shouldCountBeatsAndListTheLiving() {
        assertThat(get(store.cluster.beat("1", true, 7))).contains(Map.of("1", 1007L));
        assertThat(get(store.cluster.beat("2", true, 0))).contains(Map.of("1", 1007L, "2", 1000L));
        assertThat(get(store.cluster.beat("1", false, 8))).contains(Map.of("1", 2008L, "2", 1000L));
        assertThat(get(store.cluster.beat("1", true, 999))).contains(Map.of("1", 3999L, "2", 1000L));
        assertThat(get(store.cluster.beat("1", false, 0))).contains(Map.of("1", 4000L, "2", 1000L));
    }

    @Test
    @Replies("beat GONE")
    void shouldTellANodeThatItIsNotListed() {
        assertThat(get(store.cluster.beat("1", false, 0))).isEmpty();
        assertThat(store.redis.number("EXISTS", store.keys.nodes())).isZero();
    }

    @Test
    @Replies({"remove OK", "remove ALIVE", "remove GONE"})
    void shouldStrikeOffOnlyWhoStoodStill() {
        get(store.cluster.beat("1", true, 5));
        get(store.cluster.beat("2", true, 0));
        get(store.cluster.beat("1", false, 5));

        assertThat(get(store.cluster.remove("1", 1005)))
                .as("it has beaten since")
                .isFalse();
        assertThat(get(store.cluster.remove("1", 2005))).isTrue();
        assertThat(get(store.cluster.remove("1", 2005))).as("a repeat").isFalse();
        assertThat(get(store.cluster.beat("1", false, 5))).isEmpty();
        assertThat(get(store.cluster.beat("2", false, 0))).contains(Map.of("2", 2000L));
        assertThat(get(store.cluster.leave("2"))).isTrue();
        assertThat(get(store.cluster.leave("2"))).isFalse();
        assertThat(store.redis.number("EXISTS", store.keys.nodes())).isZero();
        assertThat(status(Script.REMOVE, "2", "1")).isEqualTo("GONE");
        get(store.cluster.beat("3", true, 0));
        assertThat(status(Script.REMOVE, "3", "1")).isEqualTo("ALIVE");
        assertThat(status(Script.REMOVE, "3", "1000")).isEqualTo("OK");
    }

    @Test
    @Replies("describe")
    void shouldKeepWhatANodeSaysOfItselfForItsTime() {
        assertThat(get(store.cluster.description("1"))).isEmpty();
        get(store.cluster.describe("1", Map.of("name", "a", "topics", "x y"), Duration.ofSeconds(100)));
        get(store.cluster.describe("1", Map.of("name", "b"), Duration.ofSeconds(200)));

        assertThat(get(store.cluster.description("1"))).isEqualTo(Map.of("name", "b", "topics", "x y"));
        assertThat(store.redis.number("PTTL", store.keys.node("1"))).isBetween(150_000L, 200_000L);
    }

    @Test
    @Replies({"topic SET", "topic KEPT", "topics"})
    void shouldDeclareATopicOnceAndChangeItByCompareAndSet() {
        StoredTopic declared = get(store.cluster.declare("a", SETTINGS, soon()));
        assertThat(declared).isEqualTo(new StoredTopic("a", 1, SETTINGS));
        assertThat(get(store.cluster.declare("a", TopicSettings.defaults(), soon())))
                .as("what was stored first wins")
                .isEqualTo(declared);
        assertThat(get(store.cluster.declare("a", SETTINGS, soon())))
                .as("a repeat")
                .isEqualTo(declared);

        TopicSettings slower = SETTINGS.withVisibility(Duration.ofSeconds(70));
        StoredTopic changed = get(store.cluster.change(declared, slower, soon()));

        assertThat(changed).isEqualTo(new StoredTopic("a", 1, slower));
        assertThat(get(store.cluster.change(declared, SETTINGS.withDeadLimit(1), soon())))
                .as("it was read before the other change")
                .isEqualTo(changed);
        get(store.cluster.declare("b", TopicSettings.defaults(), soon()));
        assertThat(get(store.cluster.topics(soon())))
                .containsExactlyInAnyOrder(changed, new StoredTopic("b", 1, TopicSettings.defaults()));
    }

    @Test
    void shouldReadSomeTopicsAndLeaveOutWhatIsNotDeclared() {
        StoredTopic a = get(store.cluster.declare("a", SETTINGS, soon()));
        get(store.cluster.declare("b", SETTINGS, soon()));

        assertThat(get(store.cluster.topics(List.of("nowhere", "a"), soon()))).containsExactly(a);
        assertThat(get(store.cluster.topics(List.of(), soon()))).isEmpty();
    }

    @Test
    void shouldKeepAPauseThroughOtherChanges() {
        StoredTopic declared = get(store.cluster.declare("a", SETTINGS, soon()));

        StoredTopic paused = get(store.cluster.change(declared, declared.pausedUntil(5), soon()));
        assertThat(paused.pausedUntilMs()).isEqualTo(5);
        StoredTopic slower = get(store.cluster.change(paused, SETTINGS.withVisibility(Duration.ofSeconds(70)), soon()));
        assertThat(slower.pausedUntilMs()).isEqualTo(5);
        StoredTopic forever = get(store.cluster.change(slower, slower.pausedUntil(StoredTopic.UNTIL_RESUMED), soon()));
        assertThat(get(store.cluster.topics(soon()))).containsExactly(forever);
        assertThat(get(store.cluster.change(forever, forever.pausedUntil(0), soon())))
                .isEqualTo(new StoredTopic("a", 1, slower.settings()));
    }

    @Test
    void shouldNotChangeTheShardCount() {
        StoredTopic declared = get(store.cluster.declare("a", SETTINGS, soon()));

        assertThatThrownBy(() -> store.cluster.change(declared, SETTINGS.withShards(4), soon()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("shards=3")
                .hasMessageContaining("shards=4");
    }

    @Test
    void shouldLeaveSettingsAloneThatItCannotRead() {
        store.redis.call("HSET", store.keys.topics(), "newer", "{\"version\":2}", "broken", "{", "empty", "{}");
        get(store.cluster.declare("a", SETTINGS, soon()));

        assertThat(get(store.cluster.topics(soon())))
                .extracting(StoredTopic::topic)
                .containsExactly("a");
        for (String topic : List.of("newer", "broken", "empty")) {
            assertThatThrownBy(() -> get(store.cluster.declare(topic, SETTINGS, soon())))
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.REFUSED))
                    .hasMessageContaining("topic=" + topic)
                    .hasMessageContaining("newer version");
        }
    }

    @Test
    @Replies("epoch")
    void shouldNeverLowerAnEpoch() {
        ShardId shard = new ShardId("a", 0);

        assertThat(get(store.cluster.epoch(shard, 2, soon()))).isEqualTo(2);
        assertThat(get(store.cluster.epoch(shard, 1, soon()))).isEqualTo(2);
        assertThat(get(store.cluster.epoch(shard, 2, soon()))).isEqualTo(2);
        assertThat(get(store.cluster.epoch(shard, 10, soon()))).isEqualTo(10);
        assertThat(store.redis.texts("HGETALL", store.keys.ledger(shard))).containsExactly("epoch", "10");
    }

    private String status(Script script, String... args) {
        ScriptRunner.Call call = new ScriptRunner.Call(script).key(store.keys.nodes());
        for (String arg : args) {
            call.arg(arg);
        }
        return (String) store.run(call).get(0);
    }
}

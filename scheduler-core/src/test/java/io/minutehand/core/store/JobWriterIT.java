package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.SingleServer;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.StoreException.Kind;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.core.write.TopicRegistry.UnknownTopicException;
import io.minutehand.core.write.WriteResult;
import io.minutehand.core.write.WriteResult.Status;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JobWriterIT {
    private static final WriteResult CREATED = new WriteResult(Status.CREATED, null);

    private RedisInstance server;
    private TestStore store;
    private TopicRegistry topics;
    private JobWriter writer;

    @BeforeEach
    void open() {
        server = SharedRedis.another();
        store = TestStore.impatient(server);
        topics = new TopicRegistry(store.cluster, Map.of(), true);
        writer = new JobWriter(store.jobs, topics, Runnable::run);
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void shouldStoreEachJobInItsShardAndAnswerInOrder() {
        StoredTopic topic = ensure("orders");
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            jobs.add(job("job-" + i, "1", false));
        }

        assertThat(write(topic, jobs)).hasSize(100).containsOnly(CREATED);

        for (NewJob job : jobs) {
            ShardId shard = new ShardId("orders", ShardMap.shardOf(job.id(), 8));
            assertThat(get(store.jobs.find(shard, job.id(), soon()))).isPresent();
        }
        assertThat(write(topic, jobs)).containsOnly(new WriteResult(Status.EXISTS, JobState.PENDING));
        List<NewJob> mixed = new ArrayList<>(List.of(job("new", "1", false)));
        jobs.forEach(job -> mixed.add(job(job.id(), "2", false)));
        assertThat(write(topic, mixed))
                .startsWith(CREATED)
                .endsWith(Collections.nCopies(100, new WriteResult(Status.CONFLICT, JobState.PENDING))
                        .toArray(WriteResult[]::new));
    }

    @Test
    void shouldFollowAJobThatItReplacesToItsBucket() {
        StoredTopic topic = ensure("orders");
        write(topic, List.of(job("a", "1", false)));
        long later = System.currentTimeMillis() + 3_600_000;
        NewJob moved = new NewJob("a", later, TestStore.digest("2"), true, TestStore.body("other"), 0);

        assertThat(write(topic, List.of(moved, job("b", "1", true))))
                .containsExactly(new WriteResult(Status.REPLACED, JobState.PENDING), CREATED);

        ShardId shard = new ShardId("orders", ShardMap.shardOf("a", 8));
        assertThat(get(store.jobs.find(shard, "a", soon()))
                        .orElseThrow()
                        .job()
                        .dueAt()
                        .toEpochMilli())
                .isEqualTo(later);
    }

    @Test
    void shouldReadSettingsAgainThatBecameStale() {
        StoredTopic topic = ensure("orders");
        String text = store.redis.text("HGET", store.keys.topics(), "orders");
        store.redis.call("HSET", store.keys.topics(), "orders", text.replace("\"epoch\":1", "\"epoch\":2"));
        for (int shard = 0; shard < 8; shard++) {
            get(store.cluster.epoch(new ShardId("orders", shard), 2, soon()));
        }

        assertThat(write(topic, List.of(job("a", "1", false), job("b", "1", false))))
                .containsOnly(CREATED);
        assertThat(topics.known("orders").orElseThrow().epoch()).isEqualTo(2);
    }

    @Test
    void shouldMendARedisThatCameBackEmpty() {
        StoredTopic topic = ensure("orders");
        server.callEach("FLUSHALL");

        assertThat(write(topic, List.of(job("a", "1", false)))).containsExactly(CREATED);
        assertThat(get(store.cluster.topics(soon()))).containsExactly(topic);
    }

    @Test
    void shouldMakeLabelsAnewWhenItsClockWasAhead() {
        StoredTopic topic = ensure("orders");
        ShardId shard = new ShardId("orders", ShardMap.shardOf("a", 8));
        store.jobs
                .clock(shard)
                .sample(System.nanoTime(), System.nanoTime(), (System.currentTimeMillis() + 120_000) * 1000);

        assertThat(write(topic, List.of(job("a", "1", false)))).containsExactly(CREATED);
    }

    @Test
    @SingleServer("REPLICAOF is no command of a Cluster")
    void shouldKnowThatNothingIsStoredWhenEveryCallWasRefused() {
        StoredTopic topic = ensure("orders");
        store.redis.call("REPLICAOF", "127.0.0.1", "1");

        assertThat(get(writer.write(topic, List.of(job("a", "1", false)), in(300))))
                .containsExactly(new WriteResult(Status.NOT_STORED, null));
        CompletableFuture<List<WriteResult>> patient = writer.write(topic, List.of(job("a", "1", false)), soon());
        store.redis.call("REPLICAOF", "NO", "ONE");
        assertThat(get(patient)).containsExactly(CREATED);
    }

    @Test
    @SingleServer("a Cluster whose nodes all stand still is down for seconds afterwards")
    void shouldSayUnknownOnlyWhenAReplyWasLostAndTellTheTruthToARepeat() {
        StoredTopic topic = ensure("orders");
        write(topic, List.of(job("first", "1", false)));
        RedisServer paused = (RedisServer) server;
        paused.pause();
        CompletableFuture<List<WriteResult>> hasty = writer.write(topic, List.of(job("a", "1", false)), in(100));
        CompletableFuture<List<WriteResult>> patient = writer.write(topic, List.of(job("b", "1", false)), soon());

        assertThat(get(hasty)).containsExactly(new WriteResult(Status.UNKNOWN, null));
        paused.resume();

        assertThat(get(patient).get(0).status()).isIn(Status.CREATED, Status.EXISTS);
        assertThat(write(topic, List.of(job("a", "1", false))))
                .containsExactly(new WriteResult(Status.EXISTS, JobState.PENDING));
    }

    @Test
    void shouldFailWhenRedisRefusesForGood() {
        StoredTopic topic = ensure("orders");
        for (int shard = 0; shard < 8; shard++) {
            store.redis.call("SET", store.keys.index(new ShardId("orders", shard)), "not a set");
        }

        assertThatThrownBy(() -> write(topic, List.of(job("a", "1", false))))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.kind()).isEqualTo(Kind.REFUSED));
    }

    @Test
    void shouldDeclareATopicAtItsFirstUseAndKeepWhatWasStoredBefore() {
        TopicSettings three = TopicSettings.defaults().withShards(3);
        TopicRegistry declaring = new TopicRegistry(store.cluster, Map.of("a", three), false);

        assertThat(declaring.known("a")).isEmpty();
        assertThat(get(declaring.ensure("a", soon())).settings()).isEqualTo(three);
        assertThat(ensure("a").settings()).as("declared before").isEqualTo(three);
        assertThat(declaring.known("a")).isPresent();
        assertThatThrownBy(() -> get(declaring.ensure("b", soon())))
                .isInstanceOf(UnknownTopicException.class)
                .hasMessageContaining("topic=b");
        assertThat(ensure("b").settings()).isEqualTo(TopicSettings.defaults());
        assertThat(get(declaring.ensure("b", soon())).settings())
                .as("it exists by now")
                .isEqualTo(TopicSettings.defaults());
        assertThatThrownBy(() -> declaring.ensure("Not a topic", soon())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTakeChangedSettingsOver() {
        StoredTopic topic = ensure("orders");
        TopicSettings slower = topic.settings().withVisibility(Duration.ofMinutes(2));
        get(store.cluster.change(topic, slower, soon()));
        assertThat(topics.known("orders")).contains(topic);

        get(topics.refreshKnown(soon()));

        assertThat(topics.known("orders").orElseThrow().settings()).isEqualTo(slower);
    }

    private StoredTopic ensure(String topic) {
        return get(topics.ensure(topic, soon()));
    }

    private List<WriteResult> write(StoredTopic topic, List<NewJob> jobs) {
        return get(writer.write(topic, jobs, soon()));
    }

    private static NewJob job(String id, String digest, boolean replace) {
        return new NewJob(id, System.currentTimeMillis(), TestStore.digest(digest), replace, TestStore.body("body"), 0);
    }

    private static long in(long ms) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.SingleServer;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Durability;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.core.write.WriteResult.Status;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A job that counts as stored when a replica has it, with a real primary and a real replica. */
@Beside
@SingleServer("a primary and a replica of its own; load-test kills primaries of a Cluster at this level")
class DurabilityIT {
    private static final String PASSWORD = "durability-password";
    private static final ShardId SHARD = new ShardId("orders", 0);

    private RedisServer primary;
    private RedisServer replica;
    private RedisCommands onReplica;
    private StoreConnection connection;
    private JobStore jobs;
    private TopicRegistry topics;

    @BeforeEach
    void open() {
        RedisSettings shared = RedisSettings.defaults()
                .withPassword(PASSWORD)
                .with("masterauth " + PASSWORD, "repl-diskless-sync-delay 0");
        primary = RedisServer.start(shared);
        replica = RedisServer.start(shared.with("replicaof 127.0.0.1 " + primary.port()));
        onReplica = replica.connect();
        await("the replica is in step")
                .until(() -> "up".equals(onReplica.info("replication").get("master_link_status")));
        connection = StoreConnection.open(RedisOptions.of(primary.uri()).withReplyTimeout(Duration.ofSeconds(5)));
        jobs = connection.jobs(Runnable::run);
        topics = new TopicRegistry(
                connection.cluster(Runnable::run),
                Map.of("orders", TopicSettings.defaults().withShards(1)),
                false);
        get(topics.ensure("orders", soon()));
    }

    @AfterEach
    void close() {
        connection.close();
        onReplica.close();
        replica.close();
        primary.close();
    }

    private Status write(Durability durability, String id) {
        StoredTopic topic = get(topics.ensure("orders", soon()));
        JobWriter writer = new JobWriter(jobs, topics, Runnable::run, durability);
        return get(writer.write(topic, List.of(job(id)), soon())).get(0).status();
    }

    private static NewJob job(String id) {
        return new NewJob(
                id,
                System.currentTimeMillis() / 60_000 * 60_000 + 600_000,
                TestStore.digest("1"),
                false,
                JobRecord.encodeBody(null, Map.of(), new byte[0]),
                0);
    }

    private boolean onReplica(String id) {
        String member = ShardMap.memberOf(id);
        return onReplica.number("HEXISTS", connection.keys().records(SHARD, member), member) == 1;
    }

    @Test
    void shouldAnswerWhenTheReplicaHasTheJob() {
        Durability one = Durability.replicas(1, Duration.ofSeconds(10));
        for (int i = 0; i < 200; i++) {
            String id = "job-" + i;
            assertThat(write(one, id)).isEqualTo(Status.CREATED);
            assertThat(onReplica(id))
                    .as("%s is there as soon as the answer is", id)
                    .isTrue();
        }
    }

    @Test
    void shouldSayThatTheReplicaDoesNotHaveIt() {
        replica.pause();
        try {
            assertThat(write(Durability.MEMORY, "memory")).isEqualTo(Status.CREATED);
            assertThat(write(Durability.replicas(1, Duration.ofMillis(200)), "replica"))
                    .isEqualTo(Status.STORED_NOT_REPLICATED);
            assertThat(get(jobs.find(SHARD, "replica", soon())))
                    .as("it is stored all the same")
                    .isPresent();
            assertThat(write(Durability.replicas(1, Duration.ofMillis(200)), "replica"))
                    .as("a repeat")
                    .isEqualTo(Status.STORED_NOT_REPLICATED);
        } finally {
            replica.resume();
        }
        assertThat(write(Durability.replicas(1, Duration.ofSeconds(10)), "replica"))
                .isEqualTo(Status.EXISTS);
        assertThat(onReplica("replica")).isTrue();
        assertThat(write(Durability.replicas(2, Duration.ofMillis(200)), "two"))
                .as("more than there are")
                .isEqualTo(Status.STORED_NOT_REPLICATED);
    }

    /** Redis waits for no more than the last write of the connection on which it is asked, and a repeat may come by another one. */
    @Test
    void shouldWaitForWhatAnotherConnectionStored() {
        replica.pause();
        try {
            assertThat(write(Durability.MEMORY, "a")).isEqualTo(Status.CREATED);
            try (StoreConnection other =
                    StoreConnection.open(RedisOptions.of(primary.uri()).withReplyTimeout(Duration.ofSeconds(5)))) {
                ScheduleOutcome repeated = get(other.jobs(Runnable::run)
                        .schedule(SHARD, 1, List.of(job("a")), Durability.replicas(1, Duration.ofMillis(200)), false));

                assertThat(repeated.items().get(0).status()).isEqualTo(ScheduleOutcome.ItemStatus.EXISTS);
                assertThat(repeated.replicas()).isZero();
            }
        } finally {
            replica.resume();
        }
    }

    @Test
    void shouldLoadScriptsThatTheServerForgot() {
        try (RedisCommands redis = primary.connect()) {
            redis.call("SCRIPT", "FLUSH");
        }
        assertThat(write(Durability.replicas(1, Duration.ofSeconds(10)), "a")).isEqualTo(Status.CREATED);
    }

    @Test
    void shouldTellAFailureWithoutSecrets() {
        Durability one = Durability.replicas(1, Duration.ofMillis(200));
        primary.kill();

        assertThatThrownBy(() -> get(jobs.schedule(SHARD, 1, List.of(job("a")), one, false)))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failed -> assertThat(failed.kind().repeatable())
                                .as(failed.toString())
                                .isTrue())
                .hasMessageContaining("script schedule")
                .hasMessageNotContaining(PASSWORD);
    }
}

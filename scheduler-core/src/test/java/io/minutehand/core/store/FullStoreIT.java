package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.VISIBILITY;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.store.StoreException.Kind;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.core.write.WriteResult;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server at maxmemory takes no new work, and lets everything else go on. */
class FullStoreIT {
    private RedisInstance server;
    private TestStore store;

    @BeforeEach
    void open() {
        server = SharedRedis.another();
        store = TestStore.onServerTime(server);
        store.freshShard();
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void shouldRefuseNewWorkOnlyAndBeforeAnyWrite() {
        long now = System.currentTimeMillis();
        store.schedule(job("kept", now + 3_600_000, false));
        fill(true);

        assertThat(store.changesOf(() -> assertThatThrownBy(() -> store.schedule(job("a", now, false)))
                        .isInstanceOfSatisfying(
                                StoreException.class,
                                full -> assertThat(full.kind()).isEqualTo(Kind.FULL))
                        .hasMessageContaining("maxmemory")))
                .isEmpty();
        fill(false);
        assertThat(store.schedule(job("a", now, false)).status()).isEqualTo(ScheduleOutcome.ItemStatus.CREATED);
    }

    @Test
    void shouldTellTheWriterThatNothingWasStored() {
        TopicRegistry topics = new TopicRegistry(store.cluster, Map.of(), true);
        JobWriter writer = new JobWriter(store.jobs, topics, Runnable::run);
        var topic = get(topics.ensure("orders", soon()));
        fill(true);
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            jobs.add(job("job-" + i, System.currentTimeMillis(), false));
        }

        assertThat(get(writer.write(topic, jobs, soon())))
                .hasSize(20)
                .containsOnly(new WriteResult(WriteResult.Status.STORE_FULL, null));
    }

    @Test
    void shouldLetEverythingElseGoOn() {
        long now = System.currentTimeMillis();
        long minute = now / 60_000;
        List.of("acked", "retried", "nacked", "buried", "recovered").forEach(id -> store.schedule(job(id, now, false)));
        List.of("cancelled", "moved").forEach(id -> store.schedule(job(id, now + 3_600_000, false)));
        fill(true);
        var bucket = new io.minutehand.core.bucket.BucketId(store.shard(), minuteOf("acked"));

        assertThat(get(store.leases.claim(bucket, store.node(1), LEASE)))
                .as("by script")
                .isTrue();
        assertThat(get(store.leases.claim(bucket, store.node(1), LEASE)))
                .as("again")
                .isTrue();
        assertThat(get(store.leases.claim(bucket, store.node(2), LEASE)))
                .as("another's")
                .isFalse();
        List<HandedJob> jobs =
                get(store.jobs.pop(bucket, store.node(1), 1, 10, VISIBILITY)).jobs();
        assertThat(jobs).hasSize(5);
        assertThat(get(store.jobs.extend(
                        store.shard(), List.of(of(jobs, "acked").receipt()), VISIBILITY)))
                .containsExactly(true);
        assertThat(get(store.jobs.ack(store.shard(), List.of(of(jobs, "acked")), RETENTION)))
                .containsExactly(true);
        assertThat(get(store.jobs.retry(of(jobs, "retried"), now + 60_000, true, "broken")))
                .isTrue();
        assertThat(get(store.jobs.retry(of(jobs, "nacked"), now + 60_000, false, "")))
                .isTrue();
        assertThat(get(store.jobs.bury(of(jobs, "buried"), "broken", TopicSettings.defaults())))
                .isPresent();
        assertThat(get(store.jobs.recover(store.shard(), store.node(2), 1, 10, VISIBILITY, "1", 0))
                        .jobs())
                .hasSize(1);
        assertThat(get(store.jobs.cancel(store.shard(), "cancelled", RETENTION, soon()))
                        .status())
                .isEqualTo(MoveOutcome.Status.CANCELLED);
        assertThat(get(store.jobs.reschedule(store.shard(), "moved", now + 7_200_000, soon()))
                        .status())
                .isEqualTo(MoveOutcome.Status.MOVED);
        long diedAt = ShardImage.number(
                store.image().stored("dead").values().iterator().next());
        assertThat(get(store.jobs.redrive(store.shard(), "buried", diedAt, now + 60_000)))
                .isTrue();
        HandedJob again = get(store.jobs.recover(store.shard(), store.node(3), 1, 10, VISIBILITY, "2", 0))
                .jobs()
                .get(0);
        get(store.jobs.bury(again, "broken", TopicSettings.defaults()));
        diedAt = ShardImage.number(
                store.image().stored("dead").values().iterator().next());
        assertThat(get(store.jobs.purge(store.shard(), "recovered", diedAt))).isTrue();
        assertThat(get(store.jobs.find(store.shard(), "moved", soon()))).isPresent();
        assertThat(get(store.leases.look(store.shard(), minute, List.of())).inFlight())
                .isZero();
        assertThat(get(store.jobs.stats(store.shard())).counter("done")).isEqualTo(1);
        assertThat(get(store.jobs.audit(store.shard()))).isZero();
        assertThat(get(store.leases.renew(store.shard(), List.of(bucket.minute()), store.node(1), LEASE)))
                .containsExactly(true);
        assertThat(get(store.leases.release(store.shard(), List.of(bucket.minute()), store.node(1))))
                .containsExactly(true);
        get(store.leases.claim(bucket, store.node(2), LEASE));
        assertThat(get(store.leases.breakLeases(store.shard(), List.of(bucket.minute()), "2")))
                .containsExactly(true);

        assertThat(get(store.cluster.beat("1", true, 0))).isPresent();
        get(store.cluster.describe("1", Map.of("name", "a"), Duration.ofMinutes(1)));
        assertThat(get(store.cluster.description("1"))).containsEntry("name", "a");
        assertThat(get(store.cluster.remove("1", 1000))).isTrue();
        assertThat(get(store.cluster.declare("orders", TopicSettings.defaults(), soon()))
                        .epoch())
                .isOne();
        assertThat(get(store.cluster.topics(soon()))).hasSize(1);
        assertThat(get(store.cluster.epoch(store.shard(), 2, soon()))).isEqualTo(2);
    }

    @Test
    void shouldConnectToAFullServer() {
        fill(true);

        try (StoreConnection second = StoreConnection.open(TestStore.options(server))) {
            assertThat(get(second.cluster(Runnable::run).beat("1", true, 0))).isPresent();
        }
    }

    private void fill(boolean full) {
        server.callEach("CONFIG", "SET", "maxmemory", full ? "1" : "0");
    }

    private long minuteOf(String id) {
        String line = store.image().line("r " + id);
        String minute = line.replaceFirst(".* minute=M", "").replaceFirst(" .*", "");
        return TestStore.START_MINUTE + Long.parseLong(minute);
    }

    private static HandedJob of(List<HandedJob> jobs, String id) {
        return jobs.stream()
                .filter(job -> job.job().id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static NewJob job(String id, long dueMs, boolean replace) {
        return new NewJob(id, dueMs, TestStore.digest("1"), replace, TestStore.body("body"), 0);
    }
}

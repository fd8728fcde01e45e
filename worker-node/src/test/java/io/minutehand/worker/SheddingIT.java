package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes whose slots are all taken. */
class SheddingIT {
    private static final Duration LONG = Duration.ofSeconds(40);

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private Jobs jobs;

    @BeforeEach
    void open() {
        jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(8));
    }

    @AfterEach
    void close() {
        workers.close();
        jobs.close();
    }

    private WorkerNode start(String name, int concurrency, CountDownLatch go) {
        return workers.start(
                name,
                builder -> builder.slots(16)
                        .handle("orders", TopicOptions.defaults().concurrency(concurrency), (payload, job) -> {
                            runs.add(name, job);
                            go.await();
                        }));
    }

    private void schedule(String prefix, int count) {
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job(prefix + i, jobs.nowMs(), "{}"));
        }
        jobs.scheduleAll(batch);
    }

    private boolean saysFull(WorkerNode node) {
        try (RedisCommands commands = SharedRedis.get().connect()) {
            return "orders"
                    .equals(commands.text("HGET", jobs.connection().keys().node(node.id()), "shed"));
        }
    }

    private long beats(WorkerNode node) {
        try (RedisCommands commands = SharedRedis.get().connect()) {
            String score = commands.text("ZSCORE", jobs.connection().keys().nodes(), node.id());
            return (long) Double.parseDouble(String.valueOf(score)) / 1000;
        }
    }

    @Test
    void shouldLeaveDueJobsToOthersThatHaveFreeSlotsAndTakeThemUpAgain() {
        CountDownLatch go = new CountDownLatch(1);
        WorkerNode full = start("full", 2, go);
        try {
            await("alone").atMost(LONG).until(() -> full.stats().ownedShards() == 8);
            schedule("first-", 60);
            await("full").atMost(LONG).until(() -> full.stats().running() == 2);
            WorkerNode free = start("free", 16, new CountDownLatch(0));
            await("the other runs all the rest").atMost(LONG).until(() -> jobs.counter("done") == 58);
            assertThat(full.stats().ownedShards())
                    .as("left out while it is full")
                    .isZero();
            assertThat(full.stats().heldBuckets()).isEmpty();
            go.countDown();
            await("takes its share again")
                    .atMost(LONG)
                    .until(() -> full.stats().ownedShards() > 0 && free.stats().ownedShards() > 0);
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == 60);
            assertThat(runs.duplicates()).isZero();
        } finally {
            go.countDown();
        }
    }

    @Test
    void shouldKeepItsShareWhenEverybodyIsFull() {
        CountDownLatch go = new CountDownLatch(1);
        try {
            WorkerNode one = start("one", 2, go);
            WorkerNode two = start("two", 2, go);
            await("both own shards")
                    .atMost(LONG)
                    .until(() -> one.stats().ownedShards() + two.stats().ownedShards() == 8
                            && one.stats().ownedShards() >= 3
                            && two.stats().ownedShards() >= 3);
            int ownedByOne = one.stats().ownedShards();
            schedule("job-", 80);
            await("both full")
                    .atMost(LONG)
                    .until(() -> one.stats().running() == 2 && two.stats().running() == 2);
            Set<BucketId> held = new HashSet<>(one.stats().heldBuckets());
            await("both say so").atMost(LONG).until(() -> saysFull(one) && saysFull(two));
            // A node that is full gives its leases up three beats later, if others are not.
            long beats = beats(one);
            await("some beats later").atMost(LONG).until(() -> beats(one) > beats + 8);
            assertThat(one.stats().ownedShards()).isEqualTo(ownedByOne);
            assertThat(two.stats().ownedShards()).isEqualTo(8 - ownedByOne);
            assertThat(one.stats().heldBuckets()).containsAll(held);
            go.countDown();
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == 80);
            assertThat(runs.duplicates()).isZero();
        } finally {
            go.countDown();
        }
    }
}

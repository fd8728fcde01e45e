package io.minutehand.core.write;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.HomeStore;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Changes the shard count of a topic while jobs flow, in steps each of which is one compare-and-set of the topic's settings, so that a process that
 * ends in between leaves a state from which anybody goes on:
 *
 * <ol>
 *   <li>announce: nodes read it within some seconds and own the shards to come;
 *   <li>change: new ids go by the new count; each shard is told the new epoch, and who still writes by the old one is sent back to read the
 *       settings; ids are looked for in their earlier homes first ({@link StoredTopic});
 *   <li>settle, when no earlier home holds a job, and the tombstones there have gone by their age: the earlier counts are forgotten, and shards that
 *       the new count has no use for are given up, their counters added to those of shard 0.
 * </ol>
 *
 * <p>Thread-safe. Futures fail with {@link io.minutehand.core.store.StoreException}.
 */
public final class Resharding {
    /** How long nodes are given to read an announcement: they read settings every 5 s. */
    public static final Duration NOTICE = Duration.ofSeconds(12);

    private final ClusterStore cluster;
    private final JobStore jobs;
    private final HomeStore homes;
    private final Executor executor;

    public Resharding(StoreConnection connection, Executor executor) {
        this.cluster = connection.cluster(executor);
        this.jobs = connection.jobs(executor);
        this.homes = connection.homes(executor);
        this.executor = executor;
    }

    /**
     * Announces and changes the count; completes when it is changed and all shards are told.
     *
     * @param shards the count to come, in the range of {@link TopicSettings#shards}
     * @param notice how long nodes are given in between, {@link #NOTICE} unless it is known that they need less
     * @param deadlineNs nanoTime after which no call is repeated; later than the notice
     * @throws IllegalArgumentException when the count is out of range
     */
    public CompletableFuture<StoredTopic> change(StoredTopic read, int shards, Duration notice, long deadlineNs) {
        read.settings().withShards(shards);
        if (read.settings().shards() == shards) {
            return read.next() == 0
                    ? tell(read, deadlineNs)
                    : cluster.change(read, read.announcing(0), deadlineNs)
                            .thenCompose(stored -> change(stored, shards, notice, deadlineNs));
        }
        if (read.next() != shards) {
            return cluster.change(read, read.announcing(shards), deadlineNs)
                    .thenCompose(stored -> stored.next() == shards
                            ? CompletableFuture.runAsync(
                                            () -> {},
                                            CompletableFuture.delayedExecutor(
                                                    notice.toMillis(), TimeUnit.MILLISECONDS, executor))
                                    .thenCompose(noticed -> switchOver(stored, shards, notice, deadlineNs))
                            : change(stored, shards, notice, deadlineNs));
        }
        return switchOver(read, shards, notice, deadlineNs);
    }

    private CompletableFuture<StoredTopic> switchOver(
            StoredTopic announced, int shards, Duration notice, long deadlineNs) {
        StoredTopic wanted = announced.resharded(shards);
        return cluster.change(announced, wanted, deadlineNs)
                .thenCompose(stored ->
                        stored.equals(wanted) ? tell(stored, deadlineNs) : change(stored, shards, notice, deadlineNs));
    }

    private CompletableFuture<StoredTopic> tell(StoredTopic topic, long deadlineNs) {
        return all(topic.shards().stream()
                        .map(shard -> cluster.epoch(shard, topic.epoch(), deadlineNs))
                        .toList())
                .thenApply(told -> topic);
    }

    /**
     * Whether some job lives in a shard that is not today's home of its id. Reads every record's id, page by page, one call at a time. Tells the
     * shards the epoch first: who changed the count may have ended before, and a shard that does not know of it takes new ids by the old one.
     */
    public CompletableFuture<Boolean> strays(StoredTopic topic) {
        return tell(topic, System.nanoTime()).thenCompose(told -> {
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            nextPage(topic, topic.shards(), 0, 0, "0", answer);
            return answer;
        });
    }

    private void nextPage(
            StoredTopic topic,
            List<ShardId> shards,
            int at,
            int hash,
            String cursor,
            CompletableFuture<Boolean> answer) {
        homes.page(shards.get(at), hash, cursor).whenComplete((page, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (page.ids().stream().anyMatch(id -> !topic.home(id).equals(shards.get(at)))) {
                answer.complete(true);
            } else if (!page.next().equals("0")) {
                nextPage(topic, shards, at, hash, page.next(), answer);
            } else if (hash + 1 < ShardMap.RECORD_HASHES) {
                nextPage(topic, shards, at, hash + 1, "0", answer);
            } else if (at + 1 < shards.size()) {
                nextPage(topic, shards, at + 1, 0, "0", answer);
            } else {
                answer.complete(false);
            }
        });
    }

    /**
     * Forgets the earlier counts of a topic without strays, whose tombstones of the time before have gone; answers with what stands then. Nothing
     * changes while a shard that would be given up holds jobs.
     *
     * @param deadlineNs nanoTime after which no call is repeated
     */
    public CompletableFuture<StoredTopic> settle(StoredTopic topic, long deadlineNs) {
        StoredTopic wanted = topic.settled();
        // Once before, for who dies after the change; once after, for who told a given-up shard the epoch in between.
        return giveUp(topic)
                .thenCompose(empty -> empty
                        ? cluster.change(topic, wanted, deadlineNs)
                                .thenCompose(stored -> stored.equals(wanted)
                                        ? giveUp(topic).thenApply(after -> stored)
                                        : CompletableFuture.completedFuture(stored))
                        : CompletableFuture.completedFuture(topic));
    }

    /** Gives up what the count has no use for; false when some of it holds jobs. */
    private CompletableFuture<Boolean> giveUp(StoredTopic topic) {
        List<CompletableFuture<Boolean>> given = topic.shards().stream()
                .skip(Math.max(topic.settings().shards(), topic.next()))
                .map(shard -> giveUp(topic, shard))
                .toList();
        return all(given).thenApply(done -> given.stream().allMatch(CompletableFuture::join));
    }

    private CompletableFuture<Boolean> giveUp(StoredTopic topic, ShardId shard) {
        return jobs.stats(shard).thenCompose(stats -> {
            if (stats.counter("pending") + stats.inFlight() + stats.dead() + stats.buckets() > 0) {
                return CompletableFuture.completedFuture(false);
            }
            Map<String, Long> counters = new HashMap<>(stats.counters());
            counters.remove("epoch");
            counters.values().removeIf(number -> number == 0);
            if (counters.isEmpty()) {
                return homes.retire(shard);
            }
            // Nothing is added to a shard that is empty and takes no new id: what was read is final.
            String mark = "absorbed:" + shard.shard() + ":" + topic.epoch();
            return homes.absorb(new ShardId(topic.topic(), 0), mark, counters)
                    .thenCompose(added -> homes.retire(shard));
        });
    }

    private static CompletableFuture<Void> all(List<? extends CompletableFuture<?>> futures) {
        return CompletableFuture.allOf(new ArrayList<>(futures).toArray(CompletableFuture[]::new));
    }
}

package io.minutehand.router.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.minutehand.core.admin.Admin;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.store.ServerFacts;
import io.minutehand.core.store.ShardStats;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What lies in Redis, as gauges: for each topic, whether a node handles it or not, the jobs that wait, are in flight and are dead, what its ledgers
 * cannot account for, and for how long the first due job has waited; for each server the settings that endanger jobs. All routers see the same. Read
 * in rounds by a thread of its own, one to three calls a shard; when a round fails its gauges are gone, for old numbers would look like good news.
 */
final class TopicMeters implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TopicMeters.class);
    private static final double MS_PER_S = 1000;
    private static final String TOPIC = "topic";

    /** A topic's shards taken together. */
    private static final class Sums {
        private long pending;
        private long inFlight;
        private long dead;
        private long difference;
        private long waitedMs;
        private boolean paused;

        void add(ShardStats stats) {
            pending += stats.counter("pending");
            inFlight += stats.inFlight();
            dead += stats.dead();
            // By amount: a job too many here must not hide one that is missing there.
            difference += Math.abs(stats.difference());
        }
    }

    private final StoreConnection connection;
    private final Admin admin;
    private final @Nullable Gauges gauges;
    private final ScheduledExecutorService rounds = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "minutehand-topic-meters");
        thread.setDaemon(true);
        return thread;
    });
    private boolean failing;

    private record Gauges(
            MultiGauge pending,
            MultiGauge inFlight,
            MultiGauge dead,
            MultiGauge difference,
            MultiGauge waited,
            MultiGauge paused,
            MultiGauge risks) {
        static Gauges in(MeterRegistry registry) {
            return new Gauges(
                    gauge(registry, "minutehand.topic.pending", "Jobs that wait for their time"),
                    gauge(registry, "minutehand.topic.inflight", "Jobs that a node has"),
                    gauge(registry, "minutehand.topic.dead", "Dead letters"),
                    gauge(registry, "minutehand.topic.ledger.difference", "Jobs not accounted for, over all shards"),
                    gauge(
                            registry,
                            "minutehand.topic.oldest.due.seconds",
                            "How long the first due job waits already, 0 = none is due"),
                    gauge(registry, "minutehand.topic.paused", "1 = no node takes the topic's jobs"),
                    gauge(registry, "minutehand.redis.risk", "1 = a setting of a server that endangers jobs"));
        }

        private static MultiGauge gauge(MeterRegistry registry, String name, String what) {
            return MultiGauge.builder(name).description(what).register(registry);
        }

        void showTopics(Map<String, Sums> topics) {
            show(pending, topics, sums -> sums.pending);
            show(inFlight, topics, sums -> sums.inFlight);
            show(dead, topics, sums -> sums.dead);
            show(difference, topics, sums -> sums.difference);
            show(waited, topics, sums -> sums.waitedMs / MS_PER_S);
            show(paused, topics, sums -> sums.paused ? 1 : 0);
        }

        private static void show(MultiGauge gauge, Map<String, Sums> topics, ToDoubleFunction<Sums> value) {
            List<Row<?>> rows = new ArrayList<>();
            topics.forEach((topic, sums) -> rows.add(Row.of(Tags.of(TOPIC, topic), value.applyAsDouble(sums))));
            gauge.register(rows, true);
        }

        void showRisks(List<ServerFacts> servers) {
            List<Row<?>> rows = new ArrayList<>();
            for (ServerFacts server : servers) {
                for (ServerFacts.Risk risk : server.risks()) {
                    Tags tags = Tags.of(
                            "server",
                            server.address(),
                            "setting",
                            risk.setting(),
                            "level",
                            risk.level().name());
                    rows.add(Row.of(tags, 1));
                }
            }
            risks.register(rows, true);
        }
    }

    /**
     * @param registry where the gauges go, or null when nobody reads them: then it does nothing
     * @param patience how long a failing call on Redis is repeated
     */
    TopicMeters(StoreConnection connection, @Nullable MeterRegistry registry, Duration patience) {
        this.connection = connection;
        this.admin = new Admin(connection, patience);
        this.gauges = registry == null ? null : Gauges.in(registry);
    }

    /** Reads now, and again when so much time has passed since the last round. */
    void start(Duration pause) {
        if (gauges != null) {
            rounds.scheduleWithFixedDelay(this::round, 0, pause.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** One round; throws nothing. */
    void round() {
        Gauges shown = gauges;
        if (shown == null) {
            return;
        }
        try {
            Map<String, Sums> topics = new HashMap<>();
            for (StoredTopic topic : admin.topics()) {
                topics.put(topic.topic(), sums(topic));
            }
            shown.showTopics(topics);
            shown.showRisks(connection.servers());
            if (failing) {
                failing = false;
                log.info("router: the metrics of topics are read again");
            }
        } catch (RuntimeException failure) {
            shown.showTopics(Map.of());
            shown.showRisks(List.of());
            if (!failing && !rounds.isShutdown()) {
                failing = true;
                log.warn(
                        "router: no metrics of topics until Redis answers cause=\"{}\"",
                        OneLine.of(String.valueOf(StoreException.of(failure).getMessage())));
            }
        }
    }

    private Sums sums(StoredTopic topic) {
        Sums sums = new Sums();
        for (Admin.ShardView view : admin.shards(topic)) {
            sums.add(view.stats());
            if (view.stats().counter("pending") > 0) {
                ShardId shard = view.shard();
                admin.buckets(shard, 1, bucket -> {
                    if (bucket.firstDueMs() >= 0) {
                        long waited = connection.clock(shard).nowMs() - bucket.firstDueMs();
                        sums.waitedMs = Math.max(sums.waitedMs, waited);
                    }
                });
            }
        }
        sums.paused =
                topic.paused(connection.clock(new ShardId(topic.topic(), 0)).nowMs());
        return sums;
    }

    /** Ends the rounds; one under way is cut short. */
    @Override
    public void close() {
        rounds.shutdownNow();
    }
}

package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.admin.Admin;
import io.minutehand.core.admin.Admin.ShardView;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.http.Scope.Right;
import io.vertx.core.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/** {@code /v1/topics}: settings and counters of topics, and how many jobs wait in which minute. */
final class TopicsResource {
    private static final Set<String> JSON = Set.of(Call.JSON);
    private static final Set<String> PATCH = Set.of(Call.JSON, "application/merge-patch+json");
    private static final int BODY_BYTES = 16 * 1024;
    private static final int BUCKETS_OF_SHARD = 10_000;
    private static final List<String> COUNTERS = List.of(
            "accepted", "pending", "done", "cancelled", "purged", "orphans", "retried", "recovered", "redriven");

    private final Topics topics;
    private final Admin admin;
    private final Blocking blocking;
    private final Bodies bodies;

    TopicsResource(Topics topics, Admin admin, Blocking blocking, Bodies bodies) {
        this.topics = topics;
        this.admin = admin;
        this.blocking = blocking;
        this.bodies = bodies;
    }

    /** GET /v1/topics: those that the key may read, by name. */
    void list(Call call) {
        call.when(topics.all(), all -> {
            ObjectNode body = Json.MAPPER.createObjectNode();
            ArrayNode list = body.putArray("topics");
            all.stream()
                    .filter(topic -> call.key().allows(Right.READ, topic.topic()))
                    .sorted(Comparator.comparing(StoredTopic::topic))
                    .forEach(topic -> fill(list.addObject(), topic));
            call.json(200, body);
        });
    }

    private ObjectNode fill(ObjectNode body, StoredTopic topic) {
        body.put("topic", topic.topic());
        body.put("epoch", topic.epoch());
        boolean paused = topics.paused(topic);
        body.put("paused", paused);
        if (paused && topic.pausedUntilMs() != StoredTopic.UNTIL_RESUMED) {
            body.put("pausedUntil", Instant.ofEpochMilli(topic.pausedUntilMs()).toString());
        }
        SettingsText.fill(body.putObject("settings"), topic.settings());
        return body;
    }

    /** GET /v1/topics/{topic}: with its counters. */
    void show(Call call) {
        String name = call.topic();
        call.when(
                topics.stored(name),
                topic -> blocking.answer(call, () -> {
                    ObjectNode body = fill(Json.MAPPER.createObjectNode(), topic);
                    List<ShardView> shards = admin.shards(topic);
                    ObjectNode counts = body.putObject("counts");
                    counts.put(
                            "inFlight",
                            shards.stream()
                                    .mapToLong(shard -> shard.stats().inFlight())
                                    .sum());
                    counts.put(
                            "dead",
                            shards.stream()
                                    .mapToLong(shard -> shard.stats().dead())
                                    .sum());
                    for (String counter : COUNTERS) {
                        counts.put(
                                counter,
                                shards.stream()
                                        .mapToLong(shard -> shard.stats().counter(counter))
                                        .sum());
                    }
                    return body;
                }));
    }

    /** PUT /v1/topics/{topic}: declares it; what is not given is as the defaults. */
    void declare(Call call) {
        String name = call.topic();
        bodies.read(call, JSON, BODY_BYTES, json -> {
            TopicSettings wanted = SettingsText.merge(TopicSettings.defaults(), Json.object(json));
            CompletableFuture<Boolean> existed = topics.all()
                    .thenApply(
                            all -> all.stream().anyMatch(topic -> topic.topic().equals(name)));
            call.when(
                    existed.thenCompose(
                            before -> topics.declare(name, wanted).thenApply(topic -> Map.entry(before, topic))),
                    outcome -> {
                        StoredTopic topic = outcome.getValue();
                        if (!topic.settings().equals(wanted)) {
                            throw new Problem(
                                            ProblemType.CHANGED,
                                            "the topic exists with other settings; PATCH changes them")
                                    .with("topic", name);
                        }
                        if (!outcome.getKey()) {
                            call.response().putHeader(HttpHeaders.LOCATION, "/v1/topics/" + name);
                        }
                        call.json(outcome.getKey() ? 200 : 201, fill(Json.MAPPER.createObjectNode(), topic));
                    });
        });
    }

    /** PATCH /v1/topics/{topic}: changes settings; running nodes take them over within seconds. */
    void change(Call call) {
        String name = call.topic();
        bodies.read(call, PATCH, BODY_BYTES, json -> {
            ObjectNode changes = Json.object(json);
            call.when(
                    topics.stored(name).thenCompose(before -> {
                        TopicSettings wanted = SettingsText.merge(before.settings(), changes);
                        if (wanted.shards() != before.settings().shards()) {
                            throw Problem.at(
                                    ProblemType.INVALID_REQUEST,
                                    "/shards",
                                    "the shard count is changed in steps, while jobs flow, by the command admin reshard");
                        }
                        return topics.change(before, wanted).thenApply(after -> Map.entry(wanted, after));
                    }),
                    outcome -> {
                        if (!outcome.getValue().settings().equals(outcome.getKey())) {
                            throw new Problem(ProblemType.CHANGED, "the topic's settings were changed meanwhile")
                                    .with("topic", name);
                        }
                        call.json(200, fill(Json.MAPPER.createObjectNode(), outcome.getValue()));
                    });
        });
    }

    /** PUT /v1/topics/{topic}/pause: no node takes its jobs, for a duration or until it is resumed. */
    void pause(Call call) {
        String name = call.topic();
        bodies.read(call, JSON, BODY_BYTES, json -> {
            Duration duration = SettingsText.pause(Json.object(json));
            call.when(
                    topics.stored(name),
                    topic -> blocking.answer(
                            call, () -> fill(Json.MAPPER.createObjectNode(), admin.pause(topic, duration))));
        });
    }

    /** DELETE /v1/topics/{topic}/pause: nodes take its jobs again. */
    void resume(Call call) {
        call.when(
                topics.stored(call.topic()),
                topic -> blocking.answer(call, () -> fill(Json.MAPPER.createObjectNode(), admin.resume(topic))));
    }

    /** What waits in a minute. */
    private static final class Minute {
        private long jobs;
        private long firstDueMs = Long.MAX_VALUE;
        private final Set<String> nodes = new TreeSet<>();
    }

    /** GET /v1/topics/{topic}/buckets: jobs by the minute in which they are due, the first ones, over all shards. */
    void buckets(Call call) {
        String name = call.topic();
        int limit = call.query("limit", 60, 1, 1440);
        int perSecond = call.query("perSecond", 0, 0, 1_000_000);
        call.when(
                topics.stored(name),
                topic -> blocking.answer(call, () -> {
                    TreeMap<Long, Minute> minutes = new TreeMap<>();
                    boolean more = false;
                    for (ShardId shard : topic.shards()) {
                        more |= admin.buckets(shard, Math.min(limit, BUCKETS_OF_SHARD), bucket -> {
                            Minute minute = minutes.computeIfAbsent(bucket.minute(), none -> new Minute());
                            minute.jobs += bucket.jobs();
                            if (bucket.firstDueMs() >= 0) {
                                minute.firstDueMs = Math.min(minute.firstDueMs, bucket.firstDueMs());
                            }
                            if (bucket.node() != null) {
                                minute.nodes.add(bucket.node());
                            }
                        });
                    }
                    ObjectNode body = Json.MAPPER.createObjectNode().put("topic", name);
                    ArrayNode list = body.putArray("minutes");
                    minutes.entrySet().stream().limit(limit).forEach(entry -> fill(list.addObject(), entry, perSecond));
                    body.put("more", more || minutes.size() > limit);
                    return body;
                }));
    }

    private static void fill(ObjectNode body, Map.Entry<Long, Minute> entry, int perSecond) {
        Minute minute = entry.getValue();
        body.put("begins", Instant.ofEpochMilli(Minutes.startMs(entry.getKey())).toString());
        body.put("jobs", minute.jobs);
        if (minute.firstDueMs != Long.MAX_VALUE) {
            body.put("firstDueAt", Instant.ofEpochMilli(minute.firstDueMs).toString());
        }
        if (perSecond > 0) {
            body.put("drainMs", minute.jobs * 1000 / perSecond);
        }
        minute.nodes.forEach(body.putArray("nodes")::add);
    }
}

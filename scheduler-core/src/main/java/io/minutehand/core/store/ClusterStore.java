package io.minutehand.core.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.ScriptRunner.Call;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Nodes and topics: who lives, what each says of itself, and the settings of topics. Futures fail with {@link StoreException}. Thread-safe. */
public final class ClusterStore {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Who asks for more reads all: a script takes no more values than fit on its stack. */
    private static final int NAMED_TOPICS = 1000;

    private final StoreConnection connection;
    private final ScriptRunner runner;
    private final Keyspace keys;

    ClusterStore(StoreConnection connection, ScriptRunner runner) {
        this.connection = connection;
        this.runner = runner;
        this.keys = connection.keys();
    }

    /**
     * Says that a node lives, and reads who else does.
     *
     * @param join whether to enter the list if absent
     * @param version 0 to 999, another whenever the node's description changed
     * @return scores by node id, or nothing when the node is not listed
     */
    public CompletableFuture<Optional<Map<String, Long>>> beat(String node, boolean join, int version) {
        Call call = new Call(Script.BEAT)
                .key(keys.nodes())
                .arg(node)
                .arg(join ? 1 : 0)
                .arg(version);
        return runner.run(call).thenApply(reply -> {
            if (!reply.text(0).equals("OK")) {
                return Optional.empty();
            }
            Map<String, Long> nodes = new LinkedHashMap<>();
            for (int i = 2; i < reply.size(); i += 2) {
                nodes.put(reply.text(i), reply.number(i + 1));
            }
            return Optional.of(nodes);
        });
    }

    /** Strikes a node off whose score stood still at {@code score}; true if it is gone now by this call. */
    public CompletableFuture<Boolean> remove(String node, long score) {
        return remove(node, Long.toString(score));
    }

    /** Strikes the calling node off. */
    public CompletableFuture<Boolean> leave(String node) {
        return remove(node, "");
    }

    private CompletableFuture<Boolean> remove(String node, String score) {
        Call call = new Call(Script.REMOVE).key(keys.nodes()).arg(node).arg(score);
        return runner.run(call).thenApply(reply -> reply.text(0).equals("OK"));
    }

    /** Writes what a node says of itself, to stay for {@code ttl}. */
    public CompletableFuture<Void> describe(String node, Map<String, String> description, Duration ttl) {
        Call call = new Call(Script.DESCRIBE).key(keys.node(node)).arg(ttl.toMillis());
        description.forEach((field, value) -> call.arg(field).arg(value));
        return runner.run(call).thenApply(reply -> null);
    }

    /** Reads what a node says of itself; empty when there is nothing. */
    public CompletableFuture<Map<String, String>> description(String node) {
        Call call = new Call(Script.DESCRIBE).key(keys.node(node)).arg(1);
        return runner.run(call).thenApply(ClusterStore::pairs);
    }

    private static Map<String, String> pairs(Reply reply) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (int i = 0; i + 1 < reply.size(); i += 2) {
            pairs.put(reply.text(i), reply.text(i + 1));
        }
        return pairs;
    }

    /** Reads all topics, repeating until the deadline; those whose settings this code cannot read are left out. */
    public CompletableFuture<List<StoredTopic>> topics(long deadlineNs) {
        return runner.runUntil(new Call(Script.TOPICS).key(keys.topics()), deadlineNs)
                .thenApply(ClusterStore::readable);
    }

    /** As {@link #topics(long)}, of some topics alone; those that are not declared are left out, too. */
    public CompletableFuture<List<StoredTopic>> topics(Collection<String> names, long deadlineNs) {
        if (names.isEmpty() || names.size() > NAMED_TOPICS) {
            return names.isEmpty() ? CompletableFuture.completedFuture(List.of()) : topics(deadlineNs);
        }
        Call call = new Call(Script.TOPICS).key(keys.topics());
        names.forEach(call::arg);
        return runner.runUntil(call, deadlineNs).thenApply(ClusterStore::readable);
    }

    private static List<StoredTopic> readable(Reply reply) {
        List<StoredTopic> topics = new ArrayList<>();
        pairs(reply).forEach((topic, text) -> decode(topic, text).ifPresent(topics::add));
        return topics;
    }

    /** The topics whose settings {@link #topics(long)} leaves out, since they cannot be read: they are of a newer version, or were changed by hand. */
    public CompletableFuture<List<String>> unreadableTopics(long deadlineNs) {
        return runner.runUntil(new Call(Script.TOPICS).key(keys.topics()), deadlineNs)
                .thenApply(reply -> {
                    List<String> unreadable = new ArrayList<>();
                    pairs(reply).forEach((topic, text) -> {
                        if (decode(topic, text).isEmpty()) {
                            unreadable.add(topic);
                        }
                    });
                    return unreadable;
                });
    }

    /** Stores settings for a topic that has none, repeating until the deadline; answers with what stands now. */
    public CompletableFuture<StoredTopic> declare(String topic, TopicSettings settings, long deadlineNs) {
        StoredTopic wanted = new StoredTopic(topic, 1, settings);
        return compareAndSet(wanted, "", deadlineNs);
    }

    /** Stores what a topic had if it has nothing now, with its epoch and earlier homes, repeating until the deadline; answers with what stands now. */
    public CompletableFuture<StoredTopic> restore(StoredTopic topic, long deadlineNs) {
        return compareAndSet(topic, "", deadlineNs);
    }

    /**
     * Changes a topic's settings if they still are as the caller read them; answers with what stands now.
     *
     * @throws IllegalArgumentException when the shard counts differ: that takes {@link io.minutehand.core.write.Resharding}
     */
    public CompletableFuture<StoredTopic> change(StoredTopic read, TopicSettings settings, long deadlineNs) {
        if (read.settings().shards() != settings.shards()) {
            throw new IllegalArgumentException("topic=" + read.topic() + " has shards="
                    + read.settings().shards() + ", asked for shards=" + settings.shards()
                    + "; the shard count is changed in steps, by Resharding");
        }
        return change(read, read.with(settings), deadlineNs);
    }

    /**
     * Changes what is stored of a topic if it still is as the caller read it; answers with what stands now. The shard count of {@code wanted} may
     * be another only as {@link StoredTopic#resharded} makes it.
     */
    public CompletableFuture<StoredTopic> change(StoredTopic read, StoredTopic wanted, long deadlineNs) {
        if (read.epoch() == wanted.epoch()
                && read.settings().shards() != wanted.settings().shards()) {
            throw new IllegalArgumentException("topic=" + read.topic() + " has shards="
                    + read.settings().shards() + " in epoch=" + read.epoch() + ", another count ("
                    + wanted.settings().shards() + ") needs another epoch");
        }
        return compareAndSet(wanted, encode(read), deadlineNs);
    }

    private CompletableFuture<StoredTopic> compareAndSet(StoredTopic wanted, String expected, long deadlineNs) {
        Call call = new Call(Script.TOPIC)
                .key(keys.topics())
                .arg(wanted.topic())
                .arg(encode(wanted))
                .arg(expected);
        return runner.runUntil(call, deadlineNs)
                .thenApply(reply -> decode(wanted.topic(), reply.text(1))
                        .orElseThrow(() -> new StoreException(
                                StoreException.Kind.REFUSED,
                                "settings of topic=" + wanted.topic() + " in " + keys.topics()
                                        + " are of a newer version or were changed by hand",
                                new IllegalStateException(reply.text(1)))));
    }

    /** Tells a shard the epoch of its topic's settings, repeating until the deadline; answers with the epoch that stands now. */
    public CompletableFuture<Long> epoch(ShardId shard, long epoch, long deadlineNs) {
        Call call = new Call(Script.EPOCH).key(keys.ledger(shard)).arg(epoch);
        return runner.runUntil(call, deadlineNs).thenApply(reply -> {
            connection.clock(shard).sample(reply.sentNs(), reply.receivedNs(), reply.number(0));
            return reply.number(1);
        });
    }

    /** The stored text of settings: JSON, fields in a fixed order, so that equal settings have equal texts. */
    static String encode(StoredTopic topic) {
        TopicSettings settings = topic.settings();
        ObjectNode json = JSON.createObjectNode();
        // Who does not know of several homes must not read this at all.
        boolean plain = topic.earlier().isEmpty() && topic.next() == 0;
        json.put("version", plain ? 1 : 2);
        json.put("epoch", topic.epoch());
        json.put("shards", settings.shards());
        if (!plain) {
            topic.earlier().forEach(json.withArray("earlier")::add);
            json.put("next", topic.next());
        }
        if (topic.pausedUntilMs() != 0) {
            json.put("pausedUntilMs", topic.pausedUntilMs());
        }
        json.put("visibilityMs", settings.visibility().toMillis());
        json.put("handlerTimeoutMs", settings.handlerTimeout().toMillis());
        json.put("retentionMs", settings.retention().toMillis());
        json.put("deadLimit", settings.deadLimit());
        json.put("deadAgeMs", settings.deadAge().toMillis());
        json.put("delivery", settings.delivery().name());
        ObjectNode retry = json.putObject("retry");
        retry.put("kind", settings.retry().kind().name());
        retry.put("retries", settings.retry().retries());
        retry.put("firstMs", settings.retry().first().toMillis());
        retry.put("maxMs", settings.retry().max().toMillis());
        retry.put("jitter", settings.retry().jitter());
        return json.toString();
    }

    static Optional<StoredTopic> decode(String topic, String text) {
        try {
            var json = JSON.readTree(text);
            var retry = json.path("retry");
            int version = json.path("version").asInt();
            if (version != 1 && version != 2) {
                return Optional.empty();
            }
            List<Integer> earlier = new ArrayList<>();
            json.path("earlier").forEach(shards -> earlier.add(shards.asInt()));
            TopicSettings settings = new TopicSettings(
                    json.path("shards").asInt(),
                    Duration.ofMillis(json.path("visibilityMs").asLong()),
                    Duration.ofMillis(json.path("handlerTimeoutMs").asLong()),
                    Duration.ofMillis(json.path("retentionMs").asLong()),
                    json.path("deadLimit").asInt(),
                    Duration.ofMillis(json.path("deadAgeMs").asLong()),
                    Delivery.valueOf(json.path("delivery").asText()),
                    new RetryPolicy(
                            RetryPolicy.Kind.valueOf(retry.path("kind").asText()),
                            retry.path("retries").asInt(),
                            Duration.ofMillis(retry.path("firstMs").asLong()),
                            Duration.ofMillis(retry.path("maxMs").asLong()),
                            retry.path("jitter").asDouble()));
            return Optional.of(new StoredTopic(
                    topic,
                    json.path("epoch").asLong(),
                    settings,
                    earlier,
                    json.path("next").asInt(),
                    json.path("pausedUntilMs").asLong()));
        } catch (JsonProcessingException | IllegalArgumentException unreadable) {
            return Optional.empty();
        }
    }
}

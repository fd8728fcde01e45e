package io.minutehand.core.write;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process knows of the settings of topics. Redis holds them: a topic is declared at its first use, by the settings that this process
 * declares or by the defaults, and whatever was stored before wins. Declaring also tells each shard the epoch; both are safe to repeat, which
 * heals a declaration that was cut short. To a Redis that came back empty the topic is declared as it last stood there, which may be other
 * settings than those that this process started with. Thread-safe.
 */
public final class TopicRegistry {
    private static final Logger log = LoggerFactory.getLogger(TopicRegistry.class);

    private final ClusterStore store;
    private final Map<String, TopicSettings> declared;
    private final boolean mayCreate;
    private final Map<String, CompletableFuture<StoredTopic>> known = new ConcurrentHashMap<>();

    /** As topics stood in Redis when this process last read them. */
    private final Map<String, TopicSettings> lastStored = new ConcurrentHashMap<>();

    /**
     * An empty view.
     *
     * @param declared settings for topics that do not exist yet
     * @param mayCreate whether other topics are created with the defaults
     */
    public TopicRegistry(ClusterStore store, Map<String, TopicSettings> declared, boolean mayCreate) {
        this.store = store;
        this.declared = Map.copyOf(declared);
        this.mayCreate = mayCreate;
        declared.keySet().forEach(TopicName::require);
    }

    /**
     * The settings of a topic, declared if need be; repeats until the deadline ({@code nanoTime}).
     *
     * @return fails with {@link UnknownTopicException} when there is none and none may be created
     */
    public CompletableFuture<StoredTopic> ensure(String topic, long deadlineNs) {
        CompletableFuture<StoredTopic> present = known.get(topic);
        if (present != null) {
            return present;
        }
        TopicName.require(topic);
        CompletableFuture<StoredTopic> mine = new CompletableFuture<>();
        CompletableFuture<StoredTopic> other = known.putIfAbsent(topic, mine);
        if (other != null) {
            return other;
        }
        fetch(topic, deadlineNs).whenComplete((stored, failure) -> {
            if (failure == null) {
                mine.complete(stored);
            } else {
                known.remove(topic, mine);
                mine.completeExceptionally(failure);
            }
        });
        return mine;
    }

    /** As {@link #ensure}, reading from Redis whatever is known; for a caller who was told that its view is stale. */
    public CompletableFuture<StoredTopic> refresh(String topic, long deadlineNs) {
        known.computeIfPresent(topic, (name, view) -> view.isDone() ? null : view);
        return ensure(topic, deadlineNs);
    }

    /** The settings of a topic if they are known by now. */
    public Optional<StoredTopic> known(String topic) {
        CompletableFuture<StoredTopic> view = known.get(topic);
        return view == null || !view.isDone() || view.isCompletedExceptionally()
                ? Optional.empty()
                : Optional.of(view.join());
    }

    /** Takes the stored settings of known topics over, as they are now. */
    public CompletableFuture<Void> refreshKnown(long deadlineNs) {
        return store.topics(deadlineNs)
                .thenAccept(topics -> topics.forEach(stored -> known.computeIfPresent(stored.topic(), (name, view) -> {
                    if (!view.isDone()
                            || view.isCompletedExceptionally()
                            || view.join().equals(stored)) {
                        return view;
                    }
                    log.info(
                            "topic: settings changed topic={} epoch={} earlier={} next={} settings={}",
                            name,
                            stored.epoch(),
                            stored.earlier(),
                            stored.next(),
                            stored.settings());
                    lastStored.put(name, stored.settings());
                    return CompletableFuture.completedFuture(stored);
                })));
    }

    private CompletableFuture<StoredTopic> fetch(String topic, long deadlineNs) {
        TopicSettings wanted = declared.get(topic);
        TopicSettings before = lastStored.getOrDefault(topic, wanted);
        CompletableFuture<StoredTopic> stored = before != null || mayCreate
                ? store.declare(topic, before == null ? TopicSettings.defaults() : before, deadlineNs)
                : store.topics(deadlineNs)
                        .thenApply(topics -> topics.stream()
                                .filter(candidate -> candidate.topic().equals(topic))
                                .findFirst()
                                .orElseThrow(() -> new UnknownTopicException(topic)));
        return stored.thenCompose(found -> {
            if (wanted != null && !wanted.equals(found.settings())) {
                log.warn(
                        "topic: stored settings differ from those declared here and win topic={} stored={} declared={}",
                        topic,
                        found.settings(),
                        wanted);
            }
            List<CompletableFuture<Long>> told = new ArrayList<>();
            for (ShardId shard : found.shards()) {
                told.add(store.epoch(shard, found.epoch(), deadlineNs));
            }
            return CompletableFuture.allOf(told.toArray(CompletableFuture[]::new))
                    .thenApply(all -> {
                        lastStored.put(topic, found.settings());
                        return found;
                    });
        });
    }

    /** There is no such topic, and this process may not create one. */
    public static final class UnknownTopicException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnknownTopicException(String topic) {
            super("topic=" + topic + " does not exist and this process may not create topics; declare it first");
        }
    }
}

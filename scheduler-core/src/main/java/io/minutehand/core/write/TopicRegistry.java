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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
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
    private final Map<String, StoredTopic> lastStored = new ConcurrentHashMap<>();

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

    /**
     * Takes the stored settings of known topics over, as they are now. Those of a topic that has none any more are put back as they were: whoever
     * declared it next might give it another shard count, and what lies in other shards would have no owner.
     */
    public CompletableFuture<Void> refreshKnown(long deadlineNs) {
        // What becomes known meanwhile may have been declared behind this reading.
        Map<String, CompletableFuture<StoredTopic>> before = Map.copyOf(known);
        return store.topics(before.keySet(), deadlineNs).thenCompose(topics -> {
            topics.forEach(this::takeOver);
            Set<String> present = topics.stream().map(StoredTopic::topic).collect(Collectors.toSet());
            return CompletableFuture.allOf(before.entrySet().stream()
                    .filter(view -> !present.contains(view.getKey()))
                    .filter(view -> view.getValue().isDone() && !view.getValue().isCompletedExceptionally())
                    .map(view -> putBack(view.getValue().join(), deadlineNs))
                    .toArray(CompletableFuture[]::new));
        });
    }

    private void takeOver(StoredTopic stored) {
        known.computeIfPresent(stored.topic(), (name, view) -> {
            if (!view.isDone() || view.isCompletedExceptionally() || view.join().equals(stored)) {
                return view;
            }
            log.info(
                    "topic: settings changed topic={} epoch={} earlier={} next={} paused_until_ms={} settings={}",
                    name,
                    stored.epoch(),
                    stored.earlier(),
                    stored.next(),
                    stored.pausedUntilMs(),
                    stored.settings());
            lastStored.put(name, stored);
            return CompletableFuture.completedFuture(stored);
        });
    }

    private CompletableFuture<Void> putBack(StoredTopic topic, long deadlineNs) {
        return store.restore(topic, deadlineNs)
                .thenCompose(stored -> told(stored, deadlineNs))
                .handle((stored, failure) -> {
                    if (stored == null) {
                        // They may be there and of a newer version; or the next refresh tries again.
                        log.debug("topic: settings cannot be put back topic={}", topic.topic(), failure);
                    } else {
                        log.warn(
                                "topic: the stored settings were gone, put back topic={} epoch={}",
                                stored.topic(),
                                stored.epoch());
                        takeOver(stored);
                    }
                    return null;
                });
    }

    private CompletableFuture<StoredTopic> fetch(String topic, long deadlineNs) {
        TopicSettings wanted = declared.get(topic);
        StoredTopic before = lastStored.get(topic);
        CompletableFuture<StoredTopic> stored = before != null
                ? store.restore(before, deadlineNs)
                : wanted != null || mayCreate
                        ? store.declare(topic, wanted == null ? TopicSettings.defaults() : wanted, deadlineNs)
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
                    return told(found, deadlineNs);
                })
                .thenApply(found -> {
                    lastStored.put(topic, found);
                    return found;
                });
    }

    /**
     * Tells each shard the epoch. A shard that knows a later one takes no job by this one, ever: then the settings have lost a change of the shard
     * count (they may lie on another server, whose fail-over lost its last writes), and go on behind it.
     */
    private CompletableFuture<StoredTopic> told(StoredTopic topic, long deadlineNs) {
        List<CompletableFuture<Long>> epochs = new ArrayList<>();
        for (ShardId shard : topic.shards()) {
            epochs.add(store.epoch(shard, topic.epoch(), deadlineNs));
        }
        return CompletableFuture.allOf(epochs.toArray(CompletableFuture[]::new)).thenCompose(all -> {
            long latest =
                    epochs.stream().mapToLong(CompletableFuture::join).max().orElse(0);
            if (latest <= topic.epoch()) {
                return CompletableFuture.completedFuture(topic);
            }
            StoredTopic ahead = topic.ahead(latest);
            return store.change(topic, ahead, deadlineNs).thenCompose(stored -> {
                if (stored.equals(ahead)) {
                    log.error(
                            "topic: the stored settings have lost a change of the shard count, going on with the count before topic={} epoch={} "
                                    + "shards_knew_epoch={} earlier={} shards={}; repeat \"deploy/minutehand admin reshard\" if the change is still wanted",
                            stored.topic(),
                            stored.epoch(),
                            latest,
                            stored.earlier(),
                            stored.settings().shards());
                }
                return told(stored, deadlineNs);
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

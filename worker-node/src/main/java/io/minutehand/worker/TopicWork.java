package io.minutehand.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectReader;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A topic that this node handles: the user's handler and options, and the settings in force. */
final class TopicWork {
    /** The handler, with the decoding of its payload. */
    interface Call {
        void run(byte[] payload, JobContext job) throws Exception;
    }

    /** The payload cannot be decoded: no retry would change that. */
    static final class UndecodableException extends Exception {
        private static final long serialVersionUID = 1L;

        UndecodableException(Exception cause) {
            super("payload cannot be decoded: " + where(cause), cause);
        }

        /** What is wrong and where, without a word of the payload: its values are nobody's business in logs. */
        private static String where(Exception cause) {
            StringBuilder text = new StringBuilder(cause.getClass().getSimpleName());
            if (cause instanceof JsonMappingException mapping
                    && !mapping.getPath().isEmpty()) {
                text.append(" at ").append(mapping.getPathReference());
            }
            if (cause instanceof JsonProcessingException json && json.getLocation() != null) {
                text.append(" line ").append(json.getLocation().getLineNr());
                text.append(" column ").append(json.getLocation().getColumnNr());
            }
            return text.toString();
        }
    }

    /** Longest time that this node counts with: sums with {@code nanoTime} must not overflow. */
    private static final Duration LONGEST = Duration.ofDays(3653);

    private final String topic;
    private final TopicOptions options;
    private final Call call;
    private volatile TopicSettings settings = TopicSettings.defaults();

    /** What Redis holds; null until it was read. */
    private volatile @Nullable StoredTopic stored;

    /** Slots in use; only the node's thread touches this and the next three. */
    private int used;

    private long starvedSinceNs;
    private boolean shed;
    private long shedSinceNs;

    TopicWork(String topic, TopicOptions options, Call call) {
        this.topic = topic;
        this.options = options;
        this.call = call;
    }

    /** The same with another call. */
    TopicWork traced(Call by) {
        return new TopicWork(topic, options, by);
    }

    static Call bytes(JobHandler<byte[]> handler) {
        return handler::handle;
    }

    static <T> Call typed(JobHandler<T> handler, ObjectReader reader, JavaType type) {
        ObjectReader typed = reader.forType(type);
        return (payload, job) -> {
            T value;
            try {
                value = typed.readValue(payload);
            } catch (IOException | RuntimeException undecodable) {
                throw new UndecodableException(undecodable);
            }
            handler.handle(value, job);
        };
    }

    String topic() {
        return topic;
    }

    TopicOptions options() {
        return options;
    }

    Call call() {
        return call;
    }

    TopicSettings settings() {
        return settings;
    }

    /** Whether settings were read at all. */
    boolean known() {
        return stored != null;
    }

    /** Takes stored settings over; true when the shards are others than before. */
    boolean update(StoredTopic now) {
        boolean moved = allShards() != now.allShards();
        settings = now.settings();
        stored = now;
        return moved;
    }

    /** Shards that hold jobs or may soon, 0 while that is not known. */
    int allShards() {
        StoredTopic known = stored;
        return known == null ? 0 : known.allShards();
    }

    /** Until when no job of the topic is taken, epoch ms by the clock of each shard's server; 0 = it is not paused. */
    long pausedUntilMs() {
        StoredTopic known = stored;
        return known == null ? 0 : known.pausedUntilMs();
    }

    RetryPolicy retry() {
        RetryPolicy own = options.retry();
        return own == null ? settings.retry() : own;
    }

    Duration timeout() {
        Duration own = options.timeout();
        return own == null ? settings.handlerTimeout() : own;
    }

    /** How long a handler may run, ns. */
    long timeoutNs() {
        return ns(timeout());
    }

    /** How long a job may stay with this node unless it is extended, ns. */
    long visibilityNs() {
        return ns(settings.visibility());
    }

    private static long ns(Duration duration) {
        return (duration.compareTo(LONGEST) > 0 ? LONGEST : duration).toNanos();
    }

    /** Handlers at once on a node with so many slots. */
    int capacity(int slots) {
        return options.concurrency() == 0 ? slots : Math.min(slots, options.concurrency());
    }

    int used() {
        return used;
    }

    void use(int slots) {
        used += slots;
    }

    long starvedSinceNs() {
        return starvedSinceNs;
    }

    /** Remembers since when due jobs found no slot; 0 = they do. */
    void starvedSince(long ns) {
        starvedSinceNs = ns;
    }

    /** Whether this node says that it cannot take jobs of the topic now, for lack of free slots. */
    boolean shed() {
        return shed;
    }

    long shedSinceNs() {
        return shedSinceNs;
    }

    void shed(boolean value, long nowNs) {
        shed = value;
        shedSinceNs = nowNs;
        starvedSinceNs = 0;
    }

    @Nullable
    StoredTopic stored() {
        return stored;
    }
}

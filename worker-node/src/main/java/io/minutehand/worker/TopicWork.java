package io.minutehand.worker;

import com.fasterxml.jackson.databind.JavaType;
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

        UndecodableException(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    private final String topic;
    private final TopicOptions options;
    private final Call call;
    private volatile TopicSettings settings = TopicSettings.defaults();
    private volatile long epoch;

    /** Slots in use; only the node's thread touches this and the next two. */
    private int used;

    private long starvedSinceNs;
    private boolean shed;

    TopicWork(String topic, TopicOptions options, Call call) {
        this.topic = topic;
        this.options = options;
        this.call = call;
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
            } catch (IOException undecodable) {
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
        return epoch > 0;
    }

    /** Takes stored settings over; true when the shards are others than before. */
    boolean update(StoredTopic stored) {
        boolean moved = !known() || stored.settings().shards() != settings.shards();
        settings = stored.settings();
        epoch = stored.epoch();
        return moved;
    }

    RetryPolicy retry() {
        RetryPolicy own = options.retry();
        return own == null ? settings.retry() : own;
    }

    Duration timeout() {
        Duration own = options.timeout();
        return own == null ? settings.handlerTimeout() : own;
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

    boolean shed() {
        return shed;
    }

    void shed(boolean value) {
        shed = value;
    }

    @Nullable
    StoredTopic stored() {
        return known() ? new StoredTopic(topic, epoch, settings) : null;
    }
}

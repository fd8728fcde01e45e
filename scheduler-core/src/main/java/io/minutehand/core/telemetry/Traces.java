package io.minutehand.core.telemetry;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the spans of a job's way go: the producer's call, the wait from due to start, the handler, the webhook, in one trace, however many processes
 * it passes. Implementations are thread-safe, do not block and do not throw.
 */
public interface Traces {
    /** Spans that nobody sees; what a caller sends along is passed on as it is. */
    Traces NONE = (kind, name, parent, attributes, since) -> new Span() {
        @Override
        public TraceContext context() {
            return parent == null ? TraceContext.NONE : parent;
        }

        @Override
        public Scope activate() {
            return () -> {};
        }

        @Override
        public void note(String attribute, long value) {}

        @Override
        public void failed(String what) {}

        @Override
        public void end(@Nullable Instant at) {}
    };

    /** What a span is about. */
    enum Kind {
        /** A request that came in. */
        SERVER,
        /** A job that is sent. */
        PRODUCER,
        /** A job that is received. */
        CONSUMER,
        /** A request that goes out. */
        CLIENT
    }

    /** A span is current on this thread until this is closed. */
    interface Scope extends AutoCloseable {
        @Override
        void close();
    }

    /** Something that takes its time. Used by one thread at a time; must be ended. */
    interface Span extends AutoCloseable {
        /** What is to be sent along, so that others continue the trace. */
        TraceContext context();

        /** Makes it the current span of this thread. */
        Scope activate();

        /** Adds a number that was not known at its beginning. */
        void note(String attribute, long value);

        /** It did not succeed. */
        void failed(String what);

        /** It is over since a time, or since now (null). */
        void end(@Nullable Instant at);

        @Override
        default void close() {
            end(null);
        }
    }

    /**
     * Begins a span.
     *
     * @param parent what it continues, or null = the current span of this thread
     * @param attributes by the names of OpenTelemetry's semantic conventions
     * @param since when it began, or null = now
     */
    Span begin(
            Kind kind,
            String name,
            @Nullable TraceContext parent,
            Map<String, String> attributes,
            @Nullable Instant since);

    /** Attributes of a span about jobs of a topic. */
    static Map<String, String> ofTopic(String operation, String topic) {
        return Map.of(
                "messaging.system", "minutehand",
                "messaging.operation.type", operation,
                "messaging.destination.name", topic);
    }
}

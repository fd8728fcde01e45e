package io.minutehand.worker;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.store.ConnectionChoice;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.core.topic.TopicSettings;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node of the cluster: joins, claims its share of the minute buckets of the topics that it has handlers for, and runs their due jobs, at least
 * once. Nodes share the work by themselves; when one dies, the others take its share over within about lease + 2 s.
 *
 * <p>Thread-safe. {@link #close} stops gracefully: what runs may finish, everything else is handed back.
 */
public final class WorkerNode implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(WorkerNode.class);
    private static final long JOIN_SECONDS = 5;
    private static final long STATS_SECONDS = 5;

    /** What a stop may take beyond its grace: interrupted handlers are handed back, the node leaves. */
    private static final long STOP_EXTRA_MS = 2000;

    private final WorkerSettings settings;
    private final StoreConnection connection;
    private final boolean ownsConnection;
    private final DueTimer timer;
    private final NodeEngine engine;
    private final Recorders recorders;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private boolean closing;

    private WorkerNode(Builder builder, StoreConnection connection) {
        this.settings = builder.settings;
        this.connection = connection;
        this.ownsConnection = builder.connection.isOurs();
        this.recorders = new Recorders();
        this.timer = new DueTimer("minutehand-" + builder.name);
        Telemetry telemetry = builder.telemetry == null ? recorders : new BothTelemetries(recorders, builder.telemetry);
        this.engine = new NodeEngine(
                connection,
                timer,
                settings,
                builder.name,
                builder.work.values(),
                builder.declared,
                telemetry,
                HandlerThreads.open("minutehand-" + builder.name));
    }

    /** A builder for a node on the Redis of this URI; see {@link RedisOptions}. */
    public static Builder connect(String uri) {
        return new Builder().redis(RedisOptions.of(uri));
    }

    /** A builder for a node; say where Redis is. */
    public static Builder builder() {
        return new Builder();
    }

    private void start() {
        timer.start();
        CompletableFuture<Void> started = CompletableFuture.runAsync(engine::start, timer);
        started.join();
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(JOIN_SECONDS);
        while (!onNode(() -> engine.membership().joined(), false)) {
            if (System.nanoTime() - deadlineNs > 0 || Thread.currentThread().isInterrupted()) {
                log.warn("node: not a member yet, trying on name={} redis={}", engine.name(), connection);
                return;
            }
            java.util.concurrent.locks.LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
        log.info("node: started node={} name={} redis={} settings={}", id(), name(), connection, settings);
    }

    /** The node's id now: new at each start, and after it was found dead and came back. */
    public String id() {
        return stats().nodeId();
    }

    /** The node's display name. */
    public String name() {
        return stats().name();
    }

    /** Whether it takes jobs: a member, not stopping, not all slots stuck. */
    public boolean ready() {
        return stats().ready();
    }

    /** What the node does now and has done since it started. */
    public NodeStats stats() {
        Map<Telemetry.Counter, Long> counters = new EnumMap<>(Telemetry.Counter.class);
        for (Telemetry.Counter counter : Telemetry.Counter.values()) {
            counters.put(counter, recorders.counted(counter));
        }
        return onNode(() -> engine.stats(counters), engine.lastStats(counters));
    }

    /** What was measured since the start: lateness and handler time by topic, counters. */
    public Recorders recorders() {
        return recorders;
    }

    private <T> T onNode(Supplier<T> question, T otherwise) {
        try {
            return CompletableFuture.supplyAsync(question, timer).get(STATS_SECONDS, TimeUnit.SECONDS);
        } catch (RejectedExecutionException | TimeoutException | ExecutionException e) {
            return otherwise;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return otherwise;
        }
    }

    /**
     * Stops gracefully and waits for it: takes nothing more, gives leases and waiting jobs back, lets handlers finish for the grace (then interrupts
     * them and hands their jobs back, without counting an attempt), acknowledges, leaves the membership, closes the
     * connection. Returns within grace + 4 s; at once when the thread is interrupted, and then what was in flight runs on another node after its
     * deadline. Calling it again waits for the first call.
     *
     * <p>Inside a handler or a call-back of this node it only begins that and returns at once: a stop waits for its handlers, and so would wait
     * for its own caller.
     */
    @Override
    public void close() {
        if (engine.handlers().onThisThread()) {
            new Thread(this::stop, "minutehand-" + engine.name() + "-stop").start();
        } else {
            stop();
        }
    }

    private void stop() {
        synchronized (this) {
            if (closing) {
                closed.join();
                return;
            }
            closing = true;
        }
        try {
            timer.execute(engine::stop);
            engine.stopped().get(settings.stopGrace().toMillis() + STOP_EXTRA_MS, TimeUnit.MILLISECONDS);
            log.info("node: stopped name={}", engine.name());
        } catch (TimeoutException late) {
            log.warn(
                    "node: stopped with jobs in flight, others take them over at their deadline name={}",
                    engine.name());
        } catch (ExecutionException | RejectedExecutionException failure) {
            log.warn("node: stop failed name={}", engine.name(), failure);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            engine.close();
            if (ownsConnection) {
                connection.close();
            }
            timer.close();
            closed.complete(null);
        }
    }

    /** Collects what a node needs. Not thread-safe. */
    public static final class Builder {
        private static final Pattern NAME = Pattern.compile("[^\\p{Cntrl}]{1,64}");

        private final Map<String, TopicWork> work = new LinkedHashMap<>();
        private final Map<String, TopicSettings> declared = new LinkedHashMap<>();
        private WorkerSettings settings = WorkerSettings.defaults();
        private ObjectMapper mapper = JsonMapper.builder()
                .addModule(new JavaTimeModule())
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        private String name = "node";
        private final ConnectionChoice connection = new ConnectionChoice();
        private @Nullable Telemetry telemetry;
        private Traces traces = Traces.NONE;

        private Builder() {}

        /** Where Redis is. */
        public Builder redis(RedisOptions options) {
            connection.redis(options);
            return this;
        }

        /** Where Redis is, as a URI; see {@link RedisOptions}. */
        public Builder redis(String uri) {
            return redis(RedisOptions.of(uri));
        }

        /** A connection of one's own (say, of a Redisson configuration), which stays open when the node closes. */
        public Builder connection(StoreConnection value) {
            connection.connection(value);
            return this;
        }

        /** Prefix of all keys, {@code mh} unless set; routers and nodes that share jobs share it. */
        public Builder namespace(String value) {
            connection.namespace(value);
            return this;
        }

        /** Display name in logs and admin output. */
        public Builder name(String value) {
            if (!NAME.matcher(Objects.requireNonNull(value, "name")).matches()) {
                throw new IllegalArgumentException("node name has " + value.length()
                        + " characters or holds a control character; allowed are 1 to 64 printable ones");
            }
            name = value;
            return this;
        }

        /** Handlers at once on this node, 64 unless set. */
        public Builder slots(int value) {
            settings = settings.withSlots(value);
            return this;
        }

        /** Times and sizes in place of the defaults. */
        public Builder settings(WorkerSettings value) {
            settings = Objects.requireNonNull(value, "settings");
            return this;
        }

        /** Decodes typed payloads; unless set, unknown fields are ignored and java.time types known. */
        public Builder objectMapper(ObjectMapper value) {
            mapper = Objects.requireNonNull(value, "objectMapper");
            return this;
        }

        /** Also told of every measurement. */
        public Builder telemetry(Telemetry value) {
            telemetry = Objects.requireNonNull(value, "telemetry");
            return this;
        }

        /** Where the spans of jobs go: their wait from due to start, and their handlers, in the trace that they carry; nowhere by default. */
        public Builder traces(Traces value) {
            traces = Objects.requireNonNull(value, "traces");
            return this;
        }

        /** Settings for a topic if Redis has none yet; those in Redis win. */
        public Builder declare(String topic, TopicSettings value) {
            declared.put(TopicName.require(topic), Objects.requireNonNull(value, "settings"));
            return this;
        }

        /** Handles a topic whose payloads are bytes. */
        public Builder handle(String topic, JobHandler<byte[]> handler) {
            return handle(topic, TopicOptions.defaults(), handler);
        }

        /** Handles a topic whose payloads are bytes, by options of this node. */
        public Builder handle(String topic, TopicOptions options, JobHandler<byte[]> handler) {
            return add(topic, options, TopicWork.bytes(Objects.requireNonNull(handler, "handler")));
        }

        /** Handles a topic whose payloads are JSON of this type; one that cannot be decoded is a dead letter at once. */
        public <T> Builder handle(String topic, Class<T> type, JobHandler<T> handler) {
            return handle(topic, type, TopicOptions.defaults(), handler);
        }

        /** Handles a topic whose payloads are JSON of this type, by options of this node. */
        public <T> Builder handle(String topic, Class<T> type, TopicOptions options, JobHandler<T> handler) {
            Objects.requireNonNull(handler, "handler");
            Objects.requireNonNull(type, "type");
            return add(topic, options, TopicWork.typed(handler, mapper.reader(), mapper.constructType(type)));
        }

        private Builder add(String topic, TopicOptions options, TopicWork.Call call) {
            TopicWork topicWork =
                    new TopicWork(TopicName.require(topic), Objects.requireNonNull(options, "options"), call);
            if (work.putIfAbsent(topic, topicWork) != null) {
                throw new IllegalArgumentException("topic=" + topic + " has a handler already, one each is allowed");
            }
            return this;
        }

        /**
         * Connects and starts; returns when the node is a member (or after 5 s, or when the thread is interrupted, and then goes on trying).
         *
         * @throws IllegalArgumentException when there is no handler, no Redis was named, or two were
         * @throws io.minutehand.core.store.StoreException when Redis refuses or cannot be reached
         */
        public WorkerNode start() {
            if (work.isEmpty()) {
                throw new IllegalArgumentException("node " + name + " has no handler; add one with handle(topic, ...)");
            }
            if (traces != Traces.NONE) {
                work.replaceAll((topic, handled) -> handled.traced(new TracedCall(traces, topic, handled.call())));
            }
            WorkerNode node = new WorkerNode(this, connection.open("node " + name));
            try {
                node.start();
            } catch (RuntimeException | Error failure) {
                node.close();
                throw failure;
            }
            return node;
        }
    }
}

package io.minutehand.router;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.core.job.Durability;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.store.ConnectionChoice;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.JobAccess;
import io.minutehand.core.write.JobForms;
import io.minutehand.core.write.JobForms.Draft;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.router.Admission.Pass;
import io.minutehand.router.Arrival.Ticket;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producer's door: schedules jobs, cancels and moves them. Thread-safe; one a process is enough, and it must be closed.
 *
 * <p><b>Answers.</b> Each call answers through a future, with a status for whatever happens in operation. A call that gets no reply is repeated,
 * exactly alike, until the router's deadline; only then it is UNKNOWN, about two seconds later at most. Futures fail when Redis refuses for good.
 *
 * <p><b>Bad input</b> (a topic, id, payload or due time beyond its limit) is an {@link IllegalArgumentException} that names value and limit,
 * thrown at once and before anything is sent.
 *
 * <p><b>Memory.</b> Calls without an answer hold their bytes of {@code bufferBytes}. Beyond it a call blocks its thread for room (a virtual
 * thread is let go meanwhile) or its future fails with a {@link RouterBufferFullException}, as set.
 *
 * <p><b>Order.</b> Jobs with the same id are stored in the order of their schedule calls, and cancel, reschedule and find see every job that was
 * scheduled through this router before. There is no other order among calls that do not wait for each other's answer.
 *
 * <p><b>Threads.</b> Futures are completed on threads of the router, and so code that is chained to them without an executor of its own runs
 * there. It may block, also for other answers of this router, but delays other answers for some 40 ms when it does; it must not call
 * {@link #flush} or {@link #close}, which wait for it.
 */
public final class JobRouter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(JobRouter.class);
    private static final AtomicInteger NUMBER = new AtomicInteger();

    /** How long close waits, after it has settled everything, until callers' futures are completed. */
    private static final long DELIVERY_MS = 1000;

    private final RouterSettings settings;
    private final StoreConnection connection;
    private final boolean ownConnection;
    private final RouterLoop loop;
    private final Callbacks callbacks;
    private final ScheduleBatcher batcher;
    private final Admission admission;
    private final JobForms forms;
    private final Traces traces;
    private final Orders orders;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private JobRouter(Builder builder, RouterSettings settings, StoreConnection connection) {
        String name = "minutehand-router-" + NUMBER.incrementAndGet();
        this.settings = settings;
        this.connection = connection;
        this.ownConnection = builder.connection.isOurs();
        this.loop = new RouterLoop(name);
        this.callbacks = new Callbacks(name);
        this.admission = new Admission(settings);
        this.traces = builder.traces;
        this.forms = new JobForms(builder.objectMapper, settings.payloadBytes());
        JobStore jobs = connection.jobs(loop);
        TopicRegistry topics = new TopicRegistry(connection.cluster(loop), builder.declared, settings.createTopics());
        RedisBackend backend = new RedisBackend(jobs, topics, new JobWriter(jobs, topics, loop, settings.durability()));
        this.batcher = new ScheduleBatcher(loop, backend, callbacks, builder.telemetry, settings.deadline());
        this.orders = new Orders(jobs, new JobAccess(jobs, topics), admission, batcher, settings.deadline());
        loop.begin(batcher);
        log.info("router: connected redis={} settings={} declared={}", connection, settings, builder.declared);
    }

    /**
     * Connects with the defaults; blocks until the first connection stands.
     *
     * @param uri as {@link RedisOptions#of} describes
     * @throws IllegalArgumentException when it is not such a URI
     * @throws io.minutehand.core.store.StoreException when nobody answers, or the login fails
     */
    public static JobRouter connect(String uri) {
        return builder().redis(uri).connect();
    }

    /** Starts from the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * A topic with payloads of this type, written as JSON.
     *
     * @throws IllegalArgumentException when the name is none
     */
    public <T> TopicHandle<T> topic(String topic, Class<T> type) {
        Objects.requireNonNull(type, "type");
        return new TopicHandle<>(this, batcher.route(TopicName.require(topic)));
    }

    /** A topic with payloads of bytes, stored as they are. */
    public TopicHandle<byte[]> topic(String topic) {
        return topic(topic, byte[].class);
    }

    /**
     * Schedules a job.
     *
     * <p>The id (made here if there is none), the due time of a delay and everything else that tells this request from another are fixed now,
     * before the first send: however often it is repeated inside, it is one request. Called again with the same id, payload, headers, business
     * id and time or delay it answers EXISTS; with another one of these CONFLICT, or REPLACED if the spec is {@code replacing()}. A delay
     * counts from this call by Redis's clock; with {@code replacing()} a second call with the same delay is another request.
     *
     * @return the outcome; fails with {@link RouterBufferFullException} when there is no room in the buffer, with
     *     {@link io.minutehand.core.store.StoreException} when Redis refuses for good, with
     *     {@link io.minutehand.core.write.TopicRegistry.UnknownTopicException} when the topic is unknown and may not be created
     * @throws IllegalArgumentException when topic or job are beyond a limit: nothing was sent
     * @throws IllegalStateException when the router is closed
     */
    public CompletableFuture<ScheduleResult> schedule(String topic, JobSpec<?> spec) {
        return schedule(batcher.route(TopicName.require(topic)), spec);
    }

    /**
     * The same job with its payload as the bytes that this router would store, checked as {@link #schedule} checks it. Sends nothing, so that a
     * job can be kept elsewhere first: scheduled later, it is the same request.
     *
     * @throws IllegalArgumentException when the job is beyond a limit
     */
    public JobSpec<byte[]> encoded(JobSpec<?> spec) {
        return forms.encoded(Objects.requireNonNull(spec, "spec"));
    }

    CompletableFuture<ScheduleResult> schedule(Route route, JobSpec<?> spec) {
        long calledNs = System.nanoTime();
        Objects.requireNonNull(spec, "spec");
        admission.requireOpen("schedule");
        if (traces == Traces.NONE) {
            return send(route, forms.draft(spec), calledNs);
        }
        TraceContext before = TraceContext.of(spec.headers());
        Traces.Span span = span(route, before.isNone() ? null : before, Map.of());
        CompletableFuture<ScheduleResult> answer;
        try {
            answer = send(route, forms.draft(span.context().into(spec)), calledNs);
        } catch (RuntimeException refused) {
            end(span, null, refused);
            throw refused;
        }
        answer.whenComplete((result, failure) -> end(
                span,
                result == null || result.status().accepted()
                        ? null
                        : result.status().name(),
                failure));
        return answer;
    }

    private Traces.Span span(Route route, @Nullable TraceContext parent, Map<String, String> more) {
        Map<String, String> attributes = new HashMap<>(Traces.ofTopic("send", route.topic()));
        attributes.putAll(more);
        return traces.begin(Traces.Kind.PRODUCER, "schedule " + route.topic(), parent, attributes, null);
    }

    private static void end(Traces.Span span, @Nullable String refused, @Nullable Throwable failure) {
        if (failure != null) {
            span.failed(String.valueOf(failure.getMessage()));
        } else if (refused != null) {
            span.failed(refused);
        }
        span.end(null);
    }

    private CompletableFuture<ScheduleResult> send(Route route, Draft draft, long calledNs) {
        Single answer = new Single();
        try {
            submit(route, draft, calledNs, answer, 0);
        } catch (RouterBufferFullException full) {
            return CompletableFuture.failedFuture(full);
        }
        return answer;
    }

    CompletableFuture<BatchResult> scheduleAll(Route route, Collection<? extends JobSpec<?>> specs) {
        long calledNs = System.nanoTime();
        Objects.requireNonNull(specs, "specs");
        admission.requireOpen("scheduleAll");
        if (traces == Traces.NONE) {
            return send(route, new BulkSchedule(settings, forms, specs, TraceContext.NONE), calledNs);
        }
        Traces.Span span = span(route, null, Map.of("messaging.batch.message_count", Integer.toString(specs.size())));
        CompletableFuture<BatchResult> answer;
        try {
            answer = send(route, new BulkSchedule(settings, forms, specs, span.context()), calledNs);
        } catch (RuntimeException refused) {
            end(span, null, refused);
            throw refused;
        }
        answer.whenComplete((result, failure) -> end(span, null, failure));
        return answer;
    }

    private CompletableFuture<BatchResult> send(Route route, BulkSchedule bulk, long calledNs) {
        bulk.check();
        bulk.handOver((draft, sink, index) -> submit(route, draft, calledNs, sink, index));
        return bulk.future();
    }

    private void submit(Route route, Draft draft, long calledNs, WaitingJob.Sink sink, int index) {
        Pass pass = admission.admit("schedule", RouterSettings.heldBytes(draft));
        Ticket ticket = new Ticket(route, draft.id(), deadlineNs(), pass);
        batcher.submit(new WaitingJob(ticket, draft, calledNs, sink, index));
    }

    Orders orders() {
        return orders;
    }

    private long deadlineNs() {
        return System.nanoTime() + settings.deadline().toNanos();
    }

    /**
     * Waits until every call that was accepted so far has its answer, and its future is completed; calls that come meanwhile are not waited
     * for. Ends by itself, since every call has a deadline; an interrupt does not end it but is kept.
     *
     * @throws IllegalStateException on a thread of the router's futures: it would wait for itself
     */
    public void flush() {
        requireNoCallback("flush");
        admission.answered().join();
    }

    /** Bytes of the buffer that calls without an answer hold. */
    public long bufferedBytes() {
        return admission.usedBytes();
    }

    /**
     * Refuses new calls, waits for the answers of all others, at most for the deadline, then ends the connection. What has no answer by then
     * gets one: NOT_STORED if it was never sent, else UNKNOWN. An interrupt ends the wait at once, with the same answers. Calling it again, also
     * from another thread, waits until it is done.
     *
     * @throws IllegalStateException on a thread of the router's futures: it would wait for itself
     */
    @Override
    public void close() {
        requireNoCallback("close");
        if (!closing.compareAndSet(false, true)) {
            closed.join();
            return;
        }
        boolean interrupted = false;
        try {
            CompletableFuture<Void> answered = admission.close();
            if (!within(answered, settings.deadline().toMillis())) {
                interrupted = Thread.interrupted();
                loop.execute(batcher::abandon);
                if (!within(answered, DELIVERY_MS)) {
                    log.warn("router: closed while callbacks of its futures still block or run");
                }
            }
            if (ownConnection) {
                connection.close();
            }
            loop.stop();
            callbacks.close();
            log.info("router: closed redis={}", connection);
        } finally {
            closed.complete(null);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for the answers; false when time is over or the caller is interrupted, which keeps its flag. */
    private static boolean within(CompletableFuture<Void> answered, long timeoutMs) {
        try {
            answered.get(timeoutMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return answered.isDone();
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("waves only run out", e);
        }
    }

    private static void requireNoCallback(String call) {
        if (Callbacks.onCallbackThread()) {
            throw new IllegalStateException(
                    call + "() was called by code that is chained to a future of this router, for which it "
                            + "would wait; call it from another thread");
        }
    }

    /** The future of a single schedule call. */
    private static final class Single extends CompletableFuture<ScheduleResult> implements WaitingJob.Sink {
        @Override
        public void answered(int index, ScheduleResult result) {
            complete(result);
        }

        @Override
        public void failed(int index, Throwable failure) {
            completeExceptionally(failure);
        }

        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }

    /** Collects the settings of a router; see {@code RouterSettings} for the table of defaults. Not thread-safe. */
    public static final class Builder {
        private final ConnectionChoice connection = new ConnectionChoice();
        private long bufferBytes = RouterSettings.defaults().bufferBytes();
        private OnFull onFull = RouterSettings.defaults().onFull();
        private Duration blockFor = RouterSettings.defaults().blockFor();
        private Duration deadline = RouterSettings.defaults().deadline();
        private int payloadBytes = RouterSettings.defaults().payloadBytes();
        private boolean createTopics = RouterSettings.defaults().createTopics();
        private Durability durability = RouterSettings.defaults().durability();
        private final Map<String, TopicSettings> declared = new LinkedHashMap<>();
        private @Nullable ObjectMapper objectMapper;
        private Telemetry telemetry = Telemetry.NONE;
        private Traces traces = Traces.NONE;

        private Builder() {}

        /**
         * Where Redis is.
         *
         * @throws IllegalArgumentException as {@link RedisOptions#of}
         */
        public Builder redis(String uri) {
            return redis(RedisOptions.of(uri));
        }

        /** Where Redis is, and how to log in. */
        public Builder redis(RedisOptions options) {
            connection.redis(options);
            return this;
        }

        /** A connection of the caller's (by a Redisson configuration, say), who closes it after the router. */
        public Builder redis(StoreConnection own) {
            connection.connection(own);
            return this;
        }

        /** The prefix of all keys; {@code mh} unless set here or in the options. */
        public Builder namespace(String value) {
            connection.namespace(value);
            return this;
        }

        /** Bytes that calls without an answer may hold together; 64 MiB by default. */
        public Builder bufferBytes(long value) {
            this.bufferBytes = value;
            return this;
        }

        /** What a call does when the buffer is full; it blocks by default. */
        public Builder onFull(OnFull value) {
            this.onFull = Objects.requireNonNull(value, "onFull");
            return this;
        }

        /** How long a call blocks for room in the buffer; 10 s by default. */
        public Builder blockFor(Duration value) {
            this.blockFor = Objects.requireNonNull(value, "blockFor");
            return this;
        }

        /** How long a call is repeated before it is given up, from when it was accepted; 10 s by default. */
        public Builder deadline(Duration value) {
            this.deadline = Objects.requireNonNull(value, "deadline");
            return this;
        }

        /** Bytes of a payload, at most; 256 KiB by default, 768 KiB at most. */
        public Builder payloadBytes(int value) {
            this.payloadBytes = value;
            return this;
        }

        /**
         * Settings for a topic that does not exist yet; where it exists, what is stored wins and the difference is logged.
         *
         * @throws IllegalArgumentException when the topic's name is none
         */
        public Builder declare(String topic, TopicSettings topicSettings) {
            declared.put(TopicName.require(topic), Objects.requireNonNull(topicSettings, "settings"));
            return this;
        }

        /**
         * Where the spans of schedule calls go; nowhere by default. Jobs carry their trace in the headers {@code traceparent} and {@code tracestate},
         * which are no part of what tells one request from another.
         */
        public Builder traces(Traces value) {
            this.traces = Objects.requireNonNull(value, "traces");
            return this;
        }

        /** Whether topics that are not declared are created at first use, with the defaults; they are by default. */
        public Builder createTopics(boolean value) {
            this.createTopics = value;
            return this;
        }

        /**
         * When a job counts as stored; {@link Durability#MEMORY} by default. With replicas each write waits for them, and what they did not get
         * in time is answered {@link ScheduleResult.Status#STORED_NOT_REPLICATED}.
         */
        public Builder durability(Durability value) {
            this.durability = Objects.requireNonNull(value, "durability");
            return this;
        }

        /** Writes payloads instead of the built-in mapper (which knows {@code java.time} and writes ISO-8601). */
        public Builder objectMapper(ObjectMapper value) {
            this.objectMapper = Objects.requireNonNull(value, "objectMapper");
            return this;
        }

        /** Where counts go; nowhere by default. */
        public Builder telemetry(Telemetry value) {
            this.telemetry = Objects.requireNonNull(value, "telemetry");
            return this;
        }

        /**
         * Connects; blocks until the first connection stands.
         *
         * @throws IllegalArgumentException that names a setting out of its range
         * @throws io.minutehand.core.store.StoreException when nobody answers, or the login fails
         */
        public JobRouter connect() {
            RouterSettings settings =
                    new RouterSettings(bufferBytes, onFull, blockFor, deadline, payloadBytes, createTopics, durability);
            declared.forEach((topic, wanted) -> requireRetention(topic, wanted.retention()));
            return new JobRouter(this, settings, connection.open("the router"));
        }

        private void requireRetention(String topic, Duration retention) {
            Duration least = deadline.plus(ScheduleBatcher.RETENTION_MARGIN);
            if (!retention.isZero() && retention.compareTo(least) < 0) {
                throw new IllegalArgumentException("topic=" + topic + " declares retention=" + retention
                        + ", allowed are 0 (no tombstones) or the router's deadline and 2 s more, " + least
                        + ": a tombstone must outlive every repeat of a call");
            }
        }
    }
}

package io.minutehand.router.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.core.write.TopicRegistry.UnknownTopicException;
import io.minutehand.router.RouterBufferFullException;
import io.minutehand.router.http.Connections.Watch;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its one answer. Belongs to the event loop of its connection: all its methods are called there, and what comes from elsewhere
 * comes through {@link #when}.
 */
final class Call {
    private static final Logger log = LoggerFactory.getLogger(Call.class);

    private static final int SERVER_ERROR = 500;

    static final String JSON = "application/json";
    static final String PROBLEM = "application/problem+json";
    static final String REQUEST_ID = "X-Request-Id";

    /** Seconds after which a caller may try again what failed in passing. */
    static final long SOON_S = 1;

    /** How long what still comes of a body is thrown away after the answer: a connection closed at once could take the answer with it. */
    private static final long LINGER_MS = 500;

    private final RoutingContext routing;
    private final HttpServerRequest request;
    private final Context context;
    private final String requestId;
    private final Watch watch;
    private final List<Runnable> atEnd = new ArrayList<>(2);
    private ApiKey key = ApiKey.ANYBODY;
    private UnaryOperator<ApiKey> keyAgain = UnaryOperator.identity();
    private TraceContext trace = TraceContext.NONE;
    private @Nullable Abort abort;
    private boolean answered;
    private boolean lastOfConnection;

    /** A request whose head has arrived. */
    Call(RoutingContext routing, Context context, String requestId, Watch watch) {
        this.routing = routing;
        this.request = routing.request();
        this.context = context;
        this.requestId = requestId;
        this.watch = watch;
        watch.begins(this, bodyExpected());
        // Also when the connection goes before there is an answer.
        request.response().exceptionHandler(gone -> {});
        request.response().closeHandler(closed -> end());
        request.exceptionHandler(gone -> end());
    }

    HttpServerRequest request() {
        return request;
    }

    HttpServerResponse response() {
        return request.response();
    }

    Context context() {
        return context;
    }

    boolean answered() {
        return answered;
    }

    /** Has the answer told by a span, and takes its context for what the request leads to. */
    void traced(Traces.Span span) {
        trace = span.context();
        atEnd(() -> {
            int status = response().getStatusCode();
            if (!response().headWritten()) {
                span.failed("the connection was closed before there was an answer");
            } else {
                span.note("http.response.status_code", status);
                if (status >= SERVER_ERROR) {
                    span.failed("");
                }
            }
            span.end(null);
        });
    }

    /** A job in the trace of the request, unless it is in one already. */
    <T> JobSpec<T> traced(JobSpec<T> spec) {
        return trace.isNone() || !TraceContext.of(spec.headers()).isNone() ? spec : trace.into(spec);
    }

    /** The key that let it in. */
    ApiKey key() {
        return key;
    }

    /**
     * Takes the key that let it in.
     *
     * @param lookAgain gives it as it is later, or throws a {@link Problem}
     */
    void key(ApiKey admitted, UnaryOperator<ApiKey> lookAgain) {
        key = admitted;
        keyAgain = lookAgain;
    }

    /**
     * Looks whether the key is still valid, and what it allows by now: of a request that lasts.
     *
     * @throws Problem (401) when it is not
     */
    void renewKey() {
        key = keyAgain.apply(key);
    }

    /** To be run once, when it is answered or its connection has gone. */
    void atEnd(Runnable action) {
        atEnd.add(action);
    }

    private void end() {
        if (!answered) {
            answered = true;
            watch.ended();
            atEnd.forEach(Runnable::run);
        }
    }

    /** All of its body has arrived, or it has none. */
    void arrived() {
        watch.arrived();
    }

    /** Something of its body has arrived, and that gives the client more time. */
    void arriving() {
        watch.arriving();
    }

    /** The topic that the path names. */
    String topic() {
        return part("topic", TopicName::require);
    }

    /** The id of a job that the path names. */
    String id() {
        return part("id", JobId::require);
    }

    private interface Rule {
        String require(String value);
    }

    private String part(String name, Rule rule) {
        try {
            return rule.require(String.valueOf(routing.pathParam(name)));
        } catch (IllegalArgumentException refused) {
            throw new Problem(ProblemType.MALFORMED_REQUEST, String.valueOf(refused.getMessage()))
                    .with("parameter", name);
        }
    }

    /** A parameter of the query, or null. */
    @Nullable
    String query(String name) {
        return request.params().get(name);
    }

    /** A parameter of the query that is a whole number. */
    int query(String name, int otherwise, int least, int most) {
        String given = query(name);
        if (given == null) {
            return otherwise;
        }
        try {
            int value = Integer.parseInt(given);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException malformed) {
            // Said below.
        }
        throw new Problem(
                        ProblemType.MALFORMED_REQUEST,
                        name + "=" + Json.shown(given) + ", allowed are whole numbers from " + least + " to " + most)
                .with("parameter", name);
    }

    /** Continues with the outcome of a future on this call's event loop; a failure, also of the continuation, becomes the answer. */
    <T> void when(CompletableFuture<T> future, Continuation<T> then) {
        future.whenComplete((value, failure) -> context.runOnContext(on -> {
            if (answered) {
                return;
            }
            try {
                if (failure != null) {
                    fail(failure);
                } else {
                    then.accept(value);
                }
            } catch (RuntimeException failed) {
                fail(failed);
            }
        }));
    }

    /** What follows on an outcome. */
    interface Continuation<T> {
        void accept(T value);
    }

    /** Answers with JSON. */
    void json(int status, JsonNode body) {
        answer(status, JSON, bytes(body));
    }

    static Buffer bytes(JsonNode body) {
        try {
            return Buffer.buffer(Json.MAPPER.writeValueAsBytes(body));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("an answer cannot be written", impossible);
        }
    }

    /** Answers with these bytes. */
    void answer(int status, String contentType, Buffer body) {
        HttpServerResponse response = request.response();
        if (answered || response.ended() || response.closed()) {
            end();
            return;
        }
        head(status, contentType);
        boolean more = bodyExpected() && !request.isEnded();
        if (more || lastOfConnection) {
            response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        }
        if (more || lastOfConnection) {
            watch.closing();
        }
        response.end(body).onComplete(sent -> {
            if (lastOfConnection && !more) {
                request.connection().close();
            }
        });
        if (more) {
            throwRestAway();
        }
        end();
    }

    /** Writes status and headers. */
    void head(int status, String contentType) {
        request.response()
                .setStatusCode(status)
                .putHeader(HttpHeaders.CONTENT_TYPE, contentType)
                .putHeader(REQUEST_ID, requestId)
                .putHeader(HttpHeaders.CACHE_CONTROL, "no-store")
                .putHeader("X-Content-Type-Options", "nosniff");
    }

    /** Ends a stream before its end. */
    interface Abort {
        void because(Problem problem);
    }

    /** The answer is a stream from here on: what goes wrong later can only end it. */
    void streaming(Abort newAbort) {
        abort = newAbort;
    }

    /** The stream is not read for now, or again. */
    void paused(boolean now) {
        watch.paused(now);
    }

    /** Ends the connection at once, whatever its client has not read. */
    void cut() {
        watch.cut();
    }

    /** The answer of a stream has been written to its end. */
    void streamed() {
        end();
    }

    /** The connection is closed behind the answer. */
    void lastOfConnection() {
        lastOfConnection = true;
    }

    private boolean bodyExpected() {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        return request.headers().contains(HttpHeaders.TRANSFER_ENCODING) || (length != null && !length.equals("0"));
    }

    private void throwRestAway() {
        Runnable close = () -> request.connection().close();
        try {
            request.handler(ignored -> {});
            request.endHandler(all -> close.run());
            request.resume();
        } catch (IllegalStateException readMeanwhile) {
            close.run();
            return;
        }
        context.owner().setTimer(LINGER_MS, now -> close.run());
    }

    /** Answers with a problem. */
    void problem(Problem problem) {
        Abort stream = abort;
        if (stream != null) {
            if (!answered) {
                stream.because(problem);
            }
            return;
        }
        ObjectNode body = problem.fill(Json.MAPPER.createObjectNode());
        body.put("requestId", requestId);
        if (!answered && !request.response().headWritten()) {
            problem.headers().forEach(request.response()::putHeader);
        }
        answer(problem.type().status(), PROBLEM, bytes(body));
    }

    /** Answers with whatever a failure means. */
    void fail(Throwable failure) {
        problem(problemOf(failure));
    }

    /** What a failure means to the caller; what is unexpected is logged. */
    Problem problemOf(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof Problem problem) {
            return problem;
        }
        if (cause instanceof UnknownTopicException) {
            return new Problem(
                    ProblemType.UNKNOWN_TOPIC, "the topic is not declared, and this router may not create it");
        }
        if (cause instanceof RouterBufferFullException) {
            return Problem.passing(
                    ProblemType.NOT_STORED, "the router's buffer is full: Redis is slow or away", SOON_S);
        }
        if (cause instanceof TimeoutException) {
            return Problem.passing(ProblemType.UNAVAILABLE, "Redis did not answer in time", SOON_S);
        }
        if (cause instanceof StoreException store) {
            if (store.kind().repeatable()) {
                return Problem.passing(ProblemType.UNAVAILABLE, "Redis did not answer in time", SOON_S);
            }
            log.warn(
                    "router: Redis refused request={} cause={}",
                    requestId,
                    Json.shown(String.valueOf(store.getMessage())));
            return store.kind() == StoreException.Kind.FULL
                    ? Problem.passing(ProblemType.STORE_FULL, "Redis is at maxmemory", SOON_S)
                    : Problem.passing(
                            ProblemType.UNAVAILABLE, "Redis refuses the call; the router's log says why", SOON_S);
        }
        if (cause instanceof IllegalArgumentException refused) {
            return new Problem(ProblemType.INVALID_REQUEST, String.valueOf(refused.getMessage()));
        }
        if (cause instanceof IllegalStateException
                && String.valueOf(cause.getMessage()).contains("closed")) {
            return Problem.passing(ProblemType.NOT_STORED, "the router is shutting down", SOON_S);
        }
        log.error("router: request failed request={}", requestId, cause);
        return new Problem(ProblemType.INTERNAL_ERROR, "the router met something unexpected");
    }
}

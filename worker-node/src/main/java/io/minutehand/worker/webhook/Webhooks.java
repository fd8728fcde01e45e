package io.minutehand.worker.webhook;

import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.worker.Again;
import io.minutehand.worker.Dead;
import io.minutehand.worker.JobContext;
import io.minutehand.worker.JobHandler;
import io.minutehand.worker.webhook.Host.Health;
import io.minutehand.worker.webhook.Host.Refusal;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Delivers due jobs to URLs, as handlers of a {@link io.minutehand.worker.WorkerNode}: {@code builder.handle("orders", webhooks.to("https://..."))}.
 *
 * <p>A delivery is a POST of the payload, byte for byte, with the headers of Standard Webhooks 1.0.0: {@code webhook-id} is {@code topic/job id}, the
 * same for each attempt, so that a receiver can tell what it has seen; {@code webhook-timestamp}, seconds, by the clock of Redis;
 * {@code webhook-signature}. Beside them {@code minutehand-topic}, {@code -job}, {@code -attempt}, {@code -delivery}, {@code -due}
 * (ISO 8601, UTC), the job's own {@code content-type}, and {@code traceparent} and {@code tracestate}: those of the delivery's span, or the job's own.
 *
 * <p>2xx is an ack; 410 makes the job a dead letter; 429 and 503 with {@code Retry-After} are tried again then, a second later at least and a day at most, and no attempt is
 * counted; everything else, a redirect too, is a failed attempt. Answers are read up to 64 KiB and dropped.
 *
 * <p>Needs Vert.x and Resilience4j on the class path. Thread-safe; one for a process. Close it after the nodes.
 */
public final class Webhooks implements AutoCloseable {
    private static final int ANSWER_BYTES = 64 * 1024;
    private static final int EVENT_LOOPS = 2;
    /** Who says "at once" again and again, and counts no attempt by it, must not be asked without a pause. */
    private static final Duration SHORTEST_RETRY_AFTER = Duration.ofSeconds(1);

    private static final Duration LONGEST_RETRY_AFTER = Duration.ofDays(1);
    private static final int OK = 200;
    private static final int REDIRECT = 300;
    private static final int GONE = 410;
    private static final int TOO_MANY = 429;
    private static final int SERVER_ERROR = 500;
    private static final int UNAVAILABLE = 503;

    private final WebhookSettings settings;
    private final Destination.Resolver resolver;
    private final Traces traces;
    private final Vertx vertx;
    private final HttpClient client;
    private final Map<HostPort, Host> hosts = new ConcurrentHashMap<>();

    private Webhooks(WebhookSettings settings, Destination.Resolver resolver, Traces traces) {
        this.settings = settings;
        this.traces = traces;
        this.resolver = resolver;
        this.vertx =
                Vertx.vertx(new VertxOptions().setEventLoopPoolSize(EVENT_LOOPS).setWorkerPoolSize(1));
        HttpClientOptions options = new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_1_1)
                .setConnectTimeout((int) settings.connectTimeout().toMillis())
                .setSslHandshakeTimeout(settings.connectTimeout().toMillis())
                .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
        if (settings.trust() != null) {
            options.setTrustOptions(trusted(settings.trust()));
        }
        // The bound of a host is kept before its pool is asked, so nobody waits in the pool.
        PoolOptions pool = new PoolOptions().setHttp1MaxSize(settings.perHost()).setEventLoopSize(EVENT_LOOPS);
        this.client = vertx.createHttpClient(options, pool);
    }

    /** The client itself reads the file at its first connection, and then each delivery would fail until its job is a dead letter. */
    private PemTrustOptions trusted(Path file) {
        PemTrustOptions certificates = new PemTrustOptions().addCertPath(file.toString());
        try {
            certificates.getTrustManagerFactory(vertx);
        } catch (Exception unreadable) {
            vertx.close();
            throw new IllegalArgumentException(
                    "trust=" + file + ", wanted is a file with certificates in PEM: " + unreadable, unreadable);
        }
        return certificates;
    }

    /**
     * Opens the client; nothing is connected yet.
     *
     * @throws IllegalArgumentException when the file of certificates to trust cannot be read, or holds none
     */
    public static Webhooks open(WebhookSettings settings) {
        return open(settings, Traces.NONE);
    }

    /** As {@link #open(WebhookSettings)}, and tells each delivery by a span, which the receiver may continue. */
    public static Webhooks open(WebhookSettings settings, Traces traces) {
        return new Webhooks(settings, InetAddress::getAllByName, traces);
    }

    static Webhooks open(WebhookSettings settings, Destination.Resolver resolver) {
        return new Webhooks(settings, resolver, Traces.NONE);
    }

    /**
     * A handler that delivers to a URL.
     *
     * @throws IllegalArgumentException when the URL may not be used: not https, not port 443, a user in it
     */
    public JobHandler<byte[]> to(String url) {
        Destination destination = Destination.of(url, settings.allowed());
        Host host = hosts.computeIfAbsent(destination.at(), at -> new Host(at, settings.perHost()));
        return (payload, job) -> host.deliver(() -> deliver(destination, payload, job));
    }

    private Health deliver(Destination destination, byte[] payload, JobContext job) throws Exception {
        if (traces == Traces.NONE) {
            return deliver(destination, payload, job, TraceContext.of(job.headers()));
        }
        Traces.Span span = traces.begin(
                Traces.Kind.CLIENT,
                "POST",
                null,
                Map.of(
                        "http.request.method", "POST",
                        "server.address", destination.at().host(),
                        "server.port", Integer.toString(destination.at().port())),
                null);
        try {
            return deliver(destination, payload, job, span.context());
        } catch (Exception failure) {
            span.failed(String.valueOf(failure.getMessage()));
            throw failure;
        } finally {
            span.end(null);
        }
    }

    private Health deliver(Destination destination, byte[] payload, JobContext job, TraceContext trace)
            throws Exception {
        RequestOptions request = request(destination, payload, job, trace);
        long startNs = System.nanoTime();
        Answer answer = exchange(destination, request, payload, limit(job));
        if (answer.status >= OK && answer.status < REDIRECT) {
            return Health.UP;
        }
        String what = "webhook " + destination + " answered " + answer.status;
        if (answer.status == GONE) {
            throw new Refusal(Health.UP, Dead.because(what + " (gone)"));
        }
        if (answer.status == TOO_MANY || answer.status == UNAVAILABLE) {
            Duration after = answer.retryAfter(job.startedAt().plusNanos(System.nanoTime() - startNs));
            if (after != null) {
                throw new Refusal(answer.status == UNAVAILABLE ? Health.DOWN : Health.UNKNOWN, Again.after(after));
            }
        }
        throw new Refusal(answer.status >= SERVER_ERROR ? Health.DOWN : Health.UP, new DeliveryException(what));
    }

    private Duration limit(JobContext job) {
        Duration left = job.remaining();
        return left.compareTo(settings.timeout()) < 0 ? left : settings.timeout();
    }

    private RequestOptions request(Destination destination, byte[] payload, JobContext job, TraceContext trace)
            throws Refusal {
        SocketAddress address;
        try {
            address = SocketAddress.inetSocketAddress(destination.address(resolver));
        } catch (UnknownHostException unknown) {
            // As a host that cannot be reached: names fail for all jobs at once when a name server does.
            throw new Refusal(
                    Health.DOWN, new DeliveryException("webhook " + destination.at() + ": the name has no address"));
        } catch (DeliveryException refused) {
            throw new Refusal(Health.UNKNOWN, refused);
        }
        String id = job.topic() + "/" + job.id();
        long timestampS = job.startedAt().getEpochSecond();
        String signatures = settings.secrets().stream()
                .map(secret -> secret.sign(id, timestampS, payload))
                .collect(Collectors.joining(" "));
        RequestOptions request = new RequestOptions()
                .setMethod(HttpMethod.POST)
                .setServer(address)
                .setHost(destination.at().host())
                .setPort(destination.at().port())
                .setSsl(destination.tls())
                .setURI(destination.target())
                .setFollowRedirects(false)
                .setConnectTimeout(settings.connectTimeout().toMillis())
                .putHeader("host", destination.authority())
                .putHeader("user-agent", "minutehand")
                .putHeader("webhook-id", id)
                .putHeader("webhook-timestamp", Long.toString(timestampS))
                .putHeader("webhook-signature", signatures)
                .putHeader("minutehand-topic", job.topic())
                .putHeader("minutehand-job", job.id())
                .putHeader("minutehand-attempt", Integer.toString(job.attempt()))
                .putHeader("minutehand-delivery", Integer.toString(job.delivery()))
                .putHeader("minutehand-due", job.dueAt().toString());
        MultiMap headers = request.getHeaders();
        headers.set("content-type", header(job, "content-type", "application/json"));
        trace.headers().forEach(headers::set);
        return request;
    }

    /** A header of the job, however its name is written, if it can be one of a request: visible ASCII and blanks. */
    private static String header(JobContext job, String name, String otherwise) {
        String value = job.headers().entrySet().stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
        return value == null || value.isBlank() || value.chars().anyMatch(c -> c < ' ' || c > '~') ? otherwise : value;
    }

    /** Sends and waits; whatever is under way when the time is up is given up. */
    private Answer exchange(Destination destination, RequestOptions options, byte[] payload, Duration limit)
            throws InterruptedException {
        AtomicBoolean givenUp = new AtomicBoolean();
        AtomicReference<HttpClientRequest> sent = new AtomicReference<>();
        CompletableFuture<Answer> answer = client.request(options)
                .compose(request -> {
                    sent.set(request);
                    if (givenUp.get()) {
                        // It waited for a connection too long: sent now, it would come beside the next attempt.
                        request.reset();
                        return Future.failedFuture("given up");
                    }
                    return request.send(Buffer.buffer(payload)).compose(response -> drained(request, response));
                })
                .toCompletionStage()
                .toCompletableFuture();
        try {
            return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw new DeliveryException(
                    "webhook " + destination + " gave no answer within " + limit.toMillis() + " ms");
        } catch (ExecutionException failed) {
            throw new DeliveryException("webhook " + destination + " could not be sent: " + failed.getCause());
        } finally {
            givenUp.set(true);
            HttpClientRequest request = sent.get();
            if (request != null && (!answer.isDone() || answer.isCompletedExceptionally())) {
                request.reset();
            }
        }
    }

    private static Future<Answer> drained(HttpClientRequest request, HttpClientResponse response) {
        int[] read = {0};
        response.handler(part -> {
            read[0] += part.length();
            if (read[0] > ANSWER_BYTES) {
                request.connection().close();
            }
        });
        Answer answer = new Answer(response.statusCode(), response.getHeader("retry-after"));
        // What matters is the status: a body that breaks off, or is cut off here, changes nothing.
        return response.end().map(answer).otherwise(answer);
    }

    /**
     * What a receiver said.
     *
     * @param status of HTTP
     * @param retryAfter the header, or null
     */
    private record Answer(int status, @Nullable String retryAfter) {
        /** How long to wait by it (RFC 9110: seconds, or a date), a second at least and a day at most; null when it says nothing that can be read. */
        @Nullable
        Duration retryAfter(Instant now) {
            if (retryAfter == null) {
                return null;
            }
            Duration after;
            try {
                after = retryAfter.matches("\\d{1,9}")
                        ? Duration.ofSeconds(Long.parseLong(retryAfter))
                        : Duration.between(
                                now,
                                ZonedDateTime.parse(retryAfter, DateTimeFormatter.RFC_1123_DATE_TIME)
                                        .toInstant());
            } catch (DateTimeParseException unreadable) {
                return null;
            }
            if (after.compareTo(SHORTEST_RETRY_AFTER) < 0) {
                return SHORTEST_RETRY_AFTER;
            }
            return after.compareTo(LONGEST_RETRY_AFTER) > 0 ? LONGEST_RETRY_AFTER : after;
        }
    }

    /** Closes all connections; what is under way fails. */
    @Override
    public void close() {
        client.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}

package io.minutehand.loadtest.local;

import static org.awaitility.Awaitility.await;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** A service that takes webhooks, and notes which job came how often and how late. Times are of this machine, where Redis is, too. */
final class WebhookReceiver implements AutoCloseable {
    private static final long HIGHEST_MS = Duration.ofHours(1).toMillis();

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    private final HttpServer server;
    private final Map<String, AtomicInteger> deliveries = new ConcurrentHashMap<>();
    private final AtomicInteger early = new AtomicInteger();

    /** Written by the one event loop. */
    private volatile Histogram lateMs = new Histogram(HIGHEST_MS, 3);

    private WebhookReceiver(String host, int port) {
        server = vertx.createHttpServer().requestHandler(this::received);
        server.listen(port, host).toCompletionStage().toCompletableFuture().join();
    }

    /** Listens from now on. */
    static WebhookReceiver listen(String host, int port) {
        return new WebhookReceiver(host, port);
    }

    private void received(HttpServerRequest request) {
        String job = request.getHeader("minutehand-job");
        long late = Duration.between(Instant.parse(request.getHeader("minutehand-due")), Instant.now())
                .toMillis();
        request.end().onSuccess(whole -> {
            deliveries.computeIfAbsent(job, id -> new AtomicInteger()).incrementAndGet();
            early.addAndGet(late < 0 ? 1 : 0);
            lateMs.recordValue(Math.min(Math.max(late, 0), HIGHEST_MS));
            request.response().setStatusCode(204).end();
        });
    }

    /** Forgets how late jobs were until now. */
    void measureAnew() {
        lateMs = new Histogram(HIGHEST_MS, 3);
    }

    /** Waits until all of these have come. */
    void awaitAll(Set<String> jobs) {
        await("all jobs are delivered")
                .atMost(Duration.ofMinutes(2))
                .until(() -> deliveries.keySet().containsAll(jobs));
    }

    Set<String> missing(Set<String> jobs) {
        return jobs.stream().filter(id -> !deliveries.containsKey(id)).collect(Collectors.toSet());
    }

    /** Deliveries of jobs that had been delivered before. */
    int duplicates() {
        return deliveries.values().stream().mapToInt(times -> times.get() - 1).sum();
    }

    int early() {
        return early.get();
    }

    /** The latest, since the beginning or {@link #measureAnew()}. */
    long latestMs() {
        return lateMs.getMaxValue();
    }

    /** Figures, for people. */
    String figures() {
        Histogram late = lateMs;
        return "delivered=" + deliveries.size() + " duplicates=" + duplicates() + " early=" + early + " late_ms p50="
                + late.getValueAtPercentile(50) + " p99=" + late.getValueAtPercentile(99) + " p99.9="
                + late.getValueAtPercentile(99.9) + " max=" + late.getMaxValue();
    }

    @Override
    public void close() {
        server.close().toCompletionStage().toCompletableFuture().join();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}

package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.minutehand.core.job.JobId;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.OpenTelemetryTraces;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.JobRouter;
import io.minutehand.router.OnFull;
import io.minutehand.worker.WorkerNode;
import io.minutehand.worker.webhook.HostPort;
import io.minutehand.worker.webhook.Secret;
import io.minutehand.worker.webhook.WebhookSettings;
import io.minutehand.worker.webhook.Webhooks;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** One trace from the producer's request to the receiver's. */
class TracesIT {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String CALLER = "00f067aa0ba902b7";
    private static final Duration DELAY = Duration.ofMillis(700);

    private final RedisOptions redis = RedisOptions.of(SharedRedis.get().uri())
            .withNamespace("t" + JobId.random().substring(0, 8));

    @Test
    void shouldTellAJobsWayFromItsRequestToItsWebhookInOneTrace() throws Exception {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        try (SdkTracerProvider provider = SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build();
                OpenTelemetrySdk sdk =
                        OpenTelemetrySdk.builder().setTracerProvider(provider).build()) {
            AtomicReference<String> received = run(new OpenTelemetryTraces(sdk));

            await("all spans have ended")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> exporter.getFinishedSpanItems().size() == 5);
            List<SpanData> way = exporter.getFinishedSpanItems().stream()
                    .sorted(Comparator.comparingLong(SpanData::getStartEpochNanos))
                    .toList();
            assertThat(way)
                    .extracting(SpanData::getName)
                    .containsExactlyInAnyOrder(
                            "POST /v1/topics/{topic}/jobs", "schedule orders", "pop orders", "process orders", "POST");
            assertThat(way).extracting(SpanData::getTraceId).containsOnly(TRACE);
            SpanData request = named(way, "POST /v1/topics/{topic}/jobs");
            SpanData schedule = named(way, "schedule orders");
            SpanData pop = named(way, "pop orders");
            SpanData process = named(way, "process orders");
            SpanData webhook = named(way, "POST");
            assertThat(request.getParentSpanId()).isEqualTo(CALLER);
            assertThat(request.getKind()).isEqualTo(SpanKind.SERVER);
            assertThat(schedule.getParentSpanId()).isEqualTo(request.getSpanId());
            assertThat(pop.getParentSpanId()).isEqualTo(schedule.getSpanId());
            assertThat(process.getParentSpanId()).isEqualTo(pop.getSpanId());
            assertThat(webhook.getParentSpanId()).isEqualTo(process.getSpanId());
            assertThat(received.get())
                    .as("the receiver may continue it")
                    .isEqualTo("00-" + TRACE + "-" + webhook.getSpanId() + "-01");
            assertThat(pop.getStartEpochNanos() - schedule.getStartEpochNanos())
                    .as("it waits since its due time")
                    .isGreaterThanOrEqualTo(DELAY.minusMillis(100).toNanos());
        }
    }

    @Test
    void shouldPassATraceOnWhenNobodyRecords() throws Exception {
        assertThat(run(Traces.NONE).get()).isEqualTo("00-" + TRACE + "-" + CALLER + "-01");
    }

    /** Schedules a job over HTTP and waits for its webhook; returns the traceparent that arrived. */
    private AtomicReference<String> run(Traces traces) throws Exception {
        AtomicReference<String> received = new AtomicReference<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            received.set(String.valueOf(exchange.getRequestHeaders().getFirst("traceparent")));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
        int port = receiver.getAddress().getPort();
        WebhookSettings settings = WebhookSettings.signedBy(Secret.of("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
                .withAllowed(Set.of(HostPort.of("127.0.0.1:" + port)));
        try (StoreConnection connection = StoreConnection.open(redis);
                JobRouter jobs = JobRouter.builder()
                        .redis(connection)
                        .onFull(OnFull.FAIL)
                        .traces(traces)
                        .connect();
                HttpRouter router = HttpRouter.start(
                        HttpSettings.defaults().withPort(0), connection, jobs, traces, Duration.ofSeconds(10));
                Webhooks webhooks = Webhooks.open(settings, traces);
                WorkerNode node = WorkerNode.builder()
                        .redis(redis)
                        .traces(traces)
                        .handle("orders", webhooks.to("http://127.0.0.1:" + port + "/hook"))
                        .start()) {
            assertThat(schedule(router.port(), "01")).isEqualTo(201);
            assertThat(schedule(router.port(), "00"))
                    .as("the same request, though another span sends it")
                    .isEqualTo(200);
            await("the webhook came").atMost(Duration.ofSeconds(30)).until(() -> received.get() != null);
        } finally {
            receiver.stop(0);
        }
        return received;
    }

    private static int schedule(int port, String flags) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/topics/orders/jobs"))
                .header("Content-Type", "application/json")
                .header("traceparent", "00-" + TRACE + "-" + CALLER + "-" + flags)
                .timeout(Duration.ofSeconds(30))
                .POST(BodyPublishers.ofString(
                        "{\"id\":\"a\",\"payload\":{},\"delay\":" + DELAY.toMillis() + "}", StandardCharsets.UTF_8))
                .build();
        return HttpClient.newHttpClient()
                .sendAsync(request, BodyHandlers.discarding())
                .get(30, TimeUnit.SECONDS)
                .statusCode();
    }

    private static SpanData named(List<SpanData> spans, String name) {
        return spans.stream()
                .filter(span -> span.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }
}

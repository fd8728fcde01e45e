package io.minutehand.core.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AdminPortTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private List<String> reasons = List.of();
    private boolean closed;
    private String metrics = "up 1\n";
    private final AdminPort admin = AdminPort.open("127.0.0.1", 0, this::reasons, () -> metrics);

    private List<String> reasons() {
        if (closed) {
            throw new IllegalStateException("closed");
        }
        return reasons;
    }

    @AfterEach
    void close() {
        admin.close();
    }

    private HttpResponse<String> ask(String method, String path) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin.port() + path))
                        .timeout(Duration.ofSeconds(10))
                        .method(method, BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void shouldSayThatItLives() throws Exception {
        HttpResponse<String> answer = ask("GET", "/healthz");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("{\"status\":\"UP\"}\n");
        assertThat(answer.headers().firstValue("cache-control")).contains("no-store");
    }

    @Test
    void shouldSayWhetherItIsReadyAndWhyNot() throws Exception {
        assertThat(ask("GET", "/readyz").body()).isEqualTo("{\"status\":\"READY\",\"reasons\":[]}\n");
        reasons = List.of("Redis says \"no\"", "it is stopping");
        HttpResponse<String> answer = ask("GET", "/readyz");
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body())
                .isEqualTo("{\"status\":\"NOT_READY\",\"reasons\":[\"Redis says \\\"no\\\"\",\"it is stopping\"]}\n");
    }

    @Test
    void shouldNotBeReadyWhenNobodyCanTell() throws Exception {
        closed = true;
        HttpResponse<String> answer = ask("GET", "/readyz");
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("NOT_READY", "it cannot be told: ", "closed");
    }

    @Test
    void shouldServeMetricsInTheFormatOfPrometheus() throws Exception {
        metrics = "up{name=\"\u00fc\"} 1\n";
        HttpResponse<String> answer = ask("GET", "/metrics");
        assertThat(answer.body()).isEqualTo(metrics);
        assertThat(answer.headers().firstValue("content-type")).contains("text/plain; version=0.0.4; charset=utf-8");
        HttpResponse<String> head = ask("HEAD", "/metrics");
        assertThat(head.body()).isEmpty();
        assertThat(head.headers().firstValue("content-length")).contains("16");
    }

    @Test
    void shouldRefuseEverythingElse() throws Exception {
        assertThat(ask("GET", "/metrics/x").statusCode()).isEqualTo(404);
        assertThat(ask("GET", "/").statusCode()).isEqualTo(404);
        HttpResponse<String> post = ask("POST", "/metrics");
        assertThat(post.statusCode()).isEqualTo(405);
        assertThat(post.headers().firstValue("allow")).contains("GET, HEAD");
    }

    @Test
    void shouldSayWhereItCannotListen() {
        assertThatThrownBy(() -> AdminPort.open("127.0.0.1", admin.port(), () -> reasons, () -> metrics))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("admin port 127.0.0.1:" + admin.port());
    }
}

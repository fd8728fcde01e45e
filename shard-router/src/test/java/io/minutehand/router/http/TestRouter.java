package io.minutehand.router.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.JobRouter;
import io.minutehand.router.OnFull;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An HTTP router over a real Redis, in a namespace that nobody used, and a client for it. */
final class TestRouter implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private final RedisOptions options;
    private final StoreConnection connection;
    private final JobRouter router;
    private final HttpRouter http;

    private TestRouter(RedisOptions options, UnaryOperator<JobRouter.Builder> jobs, HttpSettings settings) {
        this.options = options;
        this.connection = StoreConnection.open(options);
        this.router = jobs.apply(JobRouter.builder().redis(connection).onFull(OnFull.FAIL))
                .connect();
        this.http = HttpRouter.start(settings, connection, router, Traces.NONE, Duration.ofSeconds(2));
    }

    static TestRouter start() {
        return start(settings());
    }

    static TestRouter start(HttpSettings settings) {
        return start(options(SharedRedis.get()), jobs -> jobs, settings);
    }

    static TestRouter start(RedisOptions options, UnaryOperator<JobRouter.Builder> jobs, HttpSettings settings) {
        return new TestRouter(options, jobs, settings);
    }

    /** Patient: on a busy machine no reply counts as lost. */
    static RedisOptions options(RedisInstance redis) {
        return RedisOptions.of(redis.uri())
                .withNamespace("h" + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet())
                .withReplyTimeout(Duration.ofSeconds(8));
    }

    static HttpSettings settings() {
        return HttpSettings.defaults().withPort(0);
    }

    RedisOptions redis() {
        return options;
    }

    JobRouter router() {
        return router;
    }

    HttpRouter http() {
        return http;
    }

    /**
     * An answer.
     *
     * @param body its JSON, or a missing node
     */
    record Answer(int status, HttpResponse<byte[]> response, JsonNode body) {
        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        String text(String name) {
            return body.path(name).asText();
        }

        String problem() {
            return text("type").replace("/problems/", "");
        }

        @Override
        public String toString() {
            return status + " " + body;
        }
    }

    Answer get(String path, String... headers) {
        return send("GET", path, BodyPublishers.noBody(), headers);
    }

    Answer delete(String path, String... headers) {
        return send("DELETE", path, BodyPublishers.noBody(), headers);
    }

    Answer post(String path, String json, String... headers) {
        return send("POST", path, BodyPublishers.ofString(json), typed(headers));
    }

    Answer patch(String path, String json, String... headers) {
        return send("PATCH", path, BodyPublishers.ofString(json), typed(headers));
    }

    private static String[] typed(String... headers) {
        if (Arrays.stream(headers).anyMatch("Content-Type"::equals)) {
            return headers;
        }
        String[] more = Arrays.copyOf(headers, headers.length + 2);
        more[headers.length] = "Content-Type";
        more[headers.length + 1] = "application/json";
        return more;
    }

    Answer send(String method, String path, BodyPublisher body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + http.port() + path))
                .timeout(Duration.ofSeconds(30))
                .method(method, body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            HttpResponse<byte[]> response = CLIENT.send(request.build(), BodyHandlers.ofByteArray());
            boolean json =
                    response.headers().firstValue("Content-Type").orElse("").endsWith("json");
            JsonNode tree = json ? MAPPER.readTree(response.body()) : MAPPER.missingNode();
            Answer answer = new Answer(response.statusCode(), response, tree);
            Contract.check(method, path, answer);
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(method + " " + path, e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    Socket socket() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    /** Sends bytes on a connection of its own and reads until the router closes it. */
    String raw(String bytes) throws IOException {
        return raw(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    String raw(byte[] bytes) throws IOException {
        try (Socket socket = socket()) {
            OutputStream out = socket.getOutputStream();
            out.write(bytes);
            out.flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    /** Reads what comes until it holds this text. */
    static String readUntil(InputStream in, String text) throws IOException {
        StringBuilder read = new StringBuilder();
        while (read.indexOf(text) < 0) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("the connection ended before \"" + text + "\" came: " + read);
            }
            read.append((char) next);
        }
        return read.toString();
    }

    @Override
    public void close() {
        http.close();
        router.close();
        connection.close();
    }
}

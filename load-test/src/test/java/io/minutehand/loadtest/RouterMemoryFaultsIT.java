package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.redis.RedisServer;
import io.minutehand.source.FreePorts;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The memory of an HTTP router, as a process of its own, while clients hold very many connections, or send without an end. */
@Tag("faults")
class RouterMemoryFaultsIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int CONNECTIONS = 5000;
    private static final long MIB = 1024 * 1024;
    private static final int PAYLOAD = 200_000;

    private final RedisServer redis = RedisServer.start();
    private final int port = FreePorts.next();
    private final HttpClient client = HttpClient.newHttpClient();
    private PrivateDirectory home;
    private Process router;

    @BeforeEach
    void open() throws IOException {
        home = PrivateDirectory.create("router");
        // All of the heap is resident from the start: what grows from there on is what connections and streams hold.
        router = home.start(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms192m",
                        "-Xmx192m",
                        "-XX:+AlwaysPreTouch",
                        "-XX:+UseSerialGC",
                        "-jar",
                        Objects.requireNonNull(
                                System.getProperty("minutehand.jar"), "minutehand.jar is set by mvn verify"),
                        "router",
                        "--redis",
                        redis.uri(),
                        "--insecure-dev",
                        "--port",
                        Integer.toString(port),
                        "--idle-timeout",
                        "120000")
                .redirectErrorStream(true)
                .redirectOutput(home.path().resolve("log").toFile()));
        await("the router is ready").atMost(LIMIT).ignoreExceptions().until(() -> get("/readyz") == 200);
    }

    @AfterEach
    void close() throws Exception {
        router.destroyForcibly().waitFor();
        home.close();
        redis.close();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    private int get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(path)).timeout(LIMIT).build(), BodyHandlers.discarding())
                .statusCode();
    }

    private long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/" + router.pid() + "/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new AssertionError("no VmRSS of the router, is it alive: " + router.isAlive());
    }

    /** A connection that was served once, so that all that belongs to one is there, and is idle then. */
    private Socket idle() throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", port), 10_000);
        socket.setSoTimeout(10_000);
        socket.getOutputStream()
                .write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(socket.getInputStream().read()).isEqualTo('H');
        return socket;
    }

    private static void closeAll(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        sockets.clear();
    }

    private void hold(List<Socket> sockets) throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            sockets.add(idle());
        }
    }

    @Test
    void shouldNotGrowByIdleConnections() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < 500; i++) {
                sockets.add(idle());
            }
            closeAll(sockets);
            long before = residentBytes();
            hold(sockets);
            long held = residentBytes();
            long askedNs = System.nanoTime();
            assertThat(get("/healthz")).isEqualTo(200);
            long answeredMs = (System.nanoTime() - askedNs) / 1_000_000;
            closeAll(sockets);
            hold(sockets);
            long again = residentBytes();
            System.out.printf(
                    "idle connections: count=%d resident before=%d MiB held=%d MiB (%d bytes each) held again=%d MiB answer ms=%d%n",
                    CONNECTIONS, before / MIB, held / MIB, (held - before) / CONNECTIONS, again / MIB, answeredMs);
            assertThat(held - before).as("growth, bytes").isLessThan(CONNECTIONS * 10_000L);
            assertThat(again - held).as("growth by a second round, bytes").isLessThan(16 * MIB);
        } finally {
            closeAll(sockets);
        }
    }

    /** Lines of one job, again and again: Redis stores it once. */
    private static final class Repeated extends InputStream {
        private final byte[] line;
        private long left;

        Repeated(byte[] line, long lines) {
            this.line = line;
            this.left = lines * line.length;
        }

        @Override
        public int read() {
            throw new UnsupportedOperationException("read by parts");
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            if (left == 0) {
                return -1;
            }
            int at = (int) ((line.length - left % line.length) % line.length);
            int count = Math.min(length, line.length - at);
            System.arraycopy(line, at, into, offset, count);
            left -= count;
            return count;
        }
    }

    private CompletableFuture<HttpResponse<String>> stream(long lines) {
        byte[] line = ("{\"topic\":\"orders\",\"id\":\"one\",\"dueAt\":\"2035-01-01T00:00:00Z\",\"payload\":\""
                        + "x".repeat(PAYLOAD) + "\"}\n")
                .getBytes(StandardCharsets.UTF_8);
        return client.sendAsync(
                HttpRequest.newBuilder(uri("/v1/jobs:batch?results=rejected"))
                        .header("Content-Type", "application/x-ndjson")
                        .POST(BodyPublishers.ofInputStream(() -> new Repeated(line, lines)))
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void shouldNotGrowByAStreamOfAGigabyte() throws Exception {
        assertThat(stream(64 * MIB / PAYLOAD).join().statusCode()).isEqualTo(200);
        long before = residentBytes();
        long most = before;
        long lines = 1024 * MIB / PAYLOAD + 1;
        long beganNs = System.nanoTime();
        CompletableFuture<HttpResponse<String>> answer = stream(lines);
        while (!answer.isDone()) {
            most = Math.max(most, residentBytes());
            if (System.nanoTime() - beganNs > 5 * LIMIT.toNanos()) {
                throw new AssertionError("the stream has not ended after " + 5 * LIMIT.toSeconds() + " s");
            }
            java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
        }
        double seconds = (System.nanoTime() - beganNs) / 1e9;
        String[] said = answer.join().body().strip().split("\n", -1);
        JsonNode summary = new ObjectMapper().readTree(said[said.length - 1]);
        System.out.printf(
                "stream: lines=%d of %d bytes in s=%.1f resident before=%d MiB most=%d MiB summary=%s%n",
                lines, PAYLOAD, seconds, before / MIB, most / MIB, summary);
        assertThat(said).hasSize(1);
        assertThat(summary.findValue("accepted").asLong()).isEqualTo(lines);
        assertThat(most - before).as("growth, bytes").isLessThan(32 * MIB);
    }
}

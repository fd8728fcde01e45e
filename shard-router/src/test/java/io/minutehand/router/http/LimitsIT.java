package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.router.http.TestRouter.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is too large, too deep, too slow or too much is refused before it costs anything. */
class LimitsIT {
    private static final String JOBS = "/v1/topics/t/jobs";
    private static final String HEAD =
            "POST " + JOBS + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    private static TestRouter http;

    @BeforeAll
    static void start() {
        http = TestRouter.start(TestRouter.settings().withTimeouts(Duration.ofSeconds(1), Duration.ofMillis(500)));
        http.post(JOBS, "{}");
    }

    @AfterAll
    static void stop() {
        http.close();
    }

    @Test
    void shouldRefuseABodyThatAnnouncesItselfAsTooLarge() throws Exception {
        long beganNs = System.nanoTime();
        String answer = http.raw(HEAD + "Content-Length: 1073741824\r\n\r\n{");
        assertThat(answer).startsWith("HTTP/1.1 413 ").contains("Connection: close".toLowerCase(), "payload-too-large");
        assertThat(Duration.ofNanos(System.nanoTime() - beganNs)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void shouldNotAskForABodyThatIsTooLarge() throws Exception {
        assertThat(http.raw(HEAD + "Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n"))
                .startsWith("HTTP/1.1 413 ");
        assertThat(http.raw(HEAD + "Expect: a miracle\r\nContent-Length: 2\r\n\r\n"))
                .startsWith("HTTP/1.1 417 ");
        try (Socket socket = http.socket()) {
            socket.getOutputStream()
                    .write((HEAD + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            TestRouter.readUntil(socket.getInputStream(), "100 Continue\r\n\r\n");
            socket.getOutputStream().write("{}".getBytes(StandardCharsets.US_ASCII));
            TestRouter.readUntil(socket.getInputStream(), "201 Created");
        }
    }

    @Test
    void shouldStopReadingABodyWithoutLengthThatGrowsTooLarge() throws Exception {
        byte[] chunk = ("10000\r\n" + " ".repeat(65536) + "\r\n").getBytes(StandardCharsets.US_ASCII);
        int sent = 0;
        try (Socket socket = http.socket()) {
            OutputStream out = socket.getOutputStream();
            out.write((HEAD + "Transfer-Encoding: chunked\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            try {
                for (; sent < 16_384; sent++) {
                    out.write(chunk);
                }
            } catch (IOException closed) {
                // As it should be.
            }
            assertThat(sent)
                    .as("chunks of 64 KiB that went out until the connection was closed")
                    .isLessThan(16_384);
        }
        assertThat(http.get("/healthz").status()).isEqualTo(200);
    }

    @Test
    void shouldNotUnpackWhatIsPacked() throws Exception {
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
            gzip.write(new byte[10_000_000]);
        }
        assertThat(bomb.size()).isLessThan(100_000);
        Answer answer = http.send(
                "POST",
                JOBS,
                java.net.http.HttpRequest.BodyPublishers.ofByteArray(bomb.toByteArray()),
                "Content-Type",
                "application/json",
                "Content-Encoding",
                "gzip");
        assertThat(answer.status()).isEqualTo(415);
    }

    @Test
    void shouldRefuseAPayloadOverTheLimitAndTakeTheLargestOne() {
        String most = "\"" + "x".repeat(256 * 1024 - 2) + "\"";
        assertThat(http.post(JOBS, "{\"payload\":" + most + "}").status()).isEqualTo(201);
        Answer over = http.post(JOBS, "{\"payload\":\"x" + most.substring(1) + "}");
        assertThat(over.status()).isEqualTo(413);
        assertThat(over.text("pointer")).isEqualTo("/payload");
    }

    @ParameterizedTest
    @ValueSource(ints = {30, 31, 100_000})
    void shouldBoundDepth(int depth) {
        Answer answer = http.post(JOBS, "{\"payload\":" + "[".repeat(depth) + "]".repeat(depth) + "}");
        assertThat(answer.status()).as("%s", answer).isEqualTo(depth < 32 ? 201 : 400);
    }

    @Test
    void shouldBoundNumbersAndNames() {
        assertThat(http.post(JOBS, "{\"payload\":" + "1".repeat(40) + "}").status())
                .isEqualTo(201);
        assertThat(http.post(JOBS, "{\"payload\":" + "1".repeat(41) + "}").status())
                .isEqualTo(400);
        assertThat(http.post(JOBS, "{\"payload\":[" + "1".repeat(300_000) + "]}")
                        .status())
                .isEqualTo(400);
        assertThat(http.post(JOBS, "{\"" + "n".repeat(129) + "\":1}").status()).isEqualTo(400);
        assertThat(http.post(JOBS, "{\"payload\":{\"" + "n".repeat(300_000) + "\":1}}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void shouldBoundTheHead() throws Exception {
        assertThat(http.raw("GET /" + "a".repeat(3000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .contains(" 414 ", "uri-too-long");
        assertThat(http.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + "a".repeat(9000) + "\r\n\r\n"))
                .contains(" 431 ", "headers-too-large");
        StringBuilder many = new StringBuilder("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for (int i = 0; i < 70; i++) {
            many.append("X-").append(i).append(": a\r\n");
        }
        assertThat(http.raw(many + "\r\n")).startsWith("HTTP/1.1 431 ");
    }

    @Test
    void shouldNotWaitForABodyForEver() throws Exception {
        String answer = http.raw(HEAD + "Content-Length: 2\r\n\r\n{");
        assertThat(answer).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void shouldNotWaitForAHeadForEverHoweverItTrickles() throws Exception {
        try (Socket socket = http.socket()) {
            long beganNs = System.nanoTime();
            assertThatThrownBy(() -> {
                        for (byte b : (HEAD + "X: " + "a".repeat(2000)).getBytes(StandardCharsets.US_ASCII)) {
                            socket.getOutputStream().write(b);
                            Thread.sleep(20);
                        }
                    })
                    .isInstanceOf(IOException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - beganNs)).isGreaterThan(Duration.ofMillis(900));
        }
    }

    @Test
    void shouldBoundConnectionsOfAnAddress() throws Exception {
        try (TestRouter few = TestRouter.start(TestRouter.settings().withMost(3, 10))) {
            List<Socket> sockets = new ArrayList<>();
            try {
                for (int i = 0; i < 3; i++) {
                    Socket socket = few.socket();
                    sockets.add(socket);
                    socket.getOutputStream()
                            .write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
                    TestRouter.readUntil(socket.getInputStream(), "UP");
                }
                try (Socket fourth = few.socket()) {
                    assertThat(fourth.getInputStream().read()).as("closed").isEqualTo(-1);
                }
            } finally {
                for (Socket socket : sockets) {
                    socket.close();
                }
            }
        }
    }
}

package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Valid requests, changed at random, byte by byte: whatever comes of it, the router refuses it or does it, and fails never. */
class MutationsIT {
    /** {@code -Dhttp.mutations=100000} for the long form. */
    private static final int REQUESTS = Integer.getInteger("http.mutations", 3000);

    private static final long SEED = Long.getLong("http.seed", System.nanoTime());

    private static final String[] BODIES = {
        "{\"id\":\"a:1\",\"businessId\":\"order-7\",\"headers\":{\"trace\":\"x\"},\"delay\":\"PT30M\",\"payload\":{\"order\":[1,2.5e3,null,true,\"\u00fc\\u00e4\"]}}",
        "{\"id\":\"b\",\"payloadBase64\":\"AAEC/w==\",\"dueAt\":\"2030-01-31T09:00:00.250+01:00\",\"replace\":true}",
        "{\"delay\":60000}",
        "[{\"topic\":\"t\",\"id\":\"c\",\"delay\":1},{\"topic\":\"t2\",\"payload\":[]}]",
        "{\"topic\":\"t\",\"id\":\"d\",\"delay\":1}\n{\"topic\":\"t\",\"payload\":\"x\"}\n",
        "{\"visibility\":\"PT45S\",\"retry\":{\"kind\":\"FIXED\",\"retries\":2,\"first\":\"PT1S\",\"max\":\"PT1S\",\"jitter\":0.5}}",
        "{\"reason\":\"x\",\"perSecond\":10,\"dryRun\":true}",
        "{\"for\":\"PT1M\"}",
    };

    private static final String[][] TARGETS = {
        {"POST", "/v1/topics/t/jobs", "application/json", "0"},
        {"POST", "/v1/topics/t/jobs", "application/json", "1"},
        {"PATCH", "/v1/topics/t/jobs/a:1", "application/merge-patch+json", "2"},
        {"DELETE", "/v1/topics/t/jobs/a:1", "", ""},
        {"GET", "/v1/topics/t/jobs/a:1", "", ""},
        {"POST", "/v1/jobs:batch", "application/json", "3"},
        {"POST", "/v1/jobs:batch?results=rejected", "application/x-ndjson", "4"},
        {"PATCH", "/v1/topics/t", "application/json", "5"},
        {"PUT", "/v1/topics/t/pause", "application/json", "7"},
        {"DELETE", "/v1/topics/t/pause", "", ""},
        {"GET", "/v1/topics/t/buckets?limit=5&perSecond=10", "", ""},
        {"GET", "/v1/topics/t/dead-letters?limit=5&reason=x", "", ""},
        {"POST", "/v1/topics/t/dead-letters:redrive", "application/json", "6"},
        {"GET", "/v1/topics", "", ""},
    };

    private final Random random = new Random(SEED);

    @Test
    void shouldNeverFail() throws Exception {
        System.out.println("mutations: requests=" + REQUESTS + " seed=" + SEED);
        Map<Integer, Integer> statuses = new TreeMap<>();
        try (TestRouter http =
                TestRouter.start(TestRouter.settings().withTimeouts(Duration.ofSeconds(1), Duration.ofMillis(100)))) {
            http.post("/v1/topics/t/jobs", "{}");
            Socket socket = null;
            try {
                for (int i = 0; i < REQUESTS; i++) {
                    if (socket == null || socket.isClosed()) {
                        socket = http.socket();
                    }
                    byte[] request = mutated(request());
                    Integer status = send(socket, request);
                    statuses.merge(status == null ? 0 : status, 1, Integer::sum);
                    if (status != null && status >= 500) {
                        throw new AssertionError("status " + status + " with seed=" + SEED + " at request " + i + ": "
                                + new String(request, StandardCharsets.ISO_8859_1));
                    }
                    if (status == null) {
                        socket.close();
                        socket = null;
                    }
                }
            } finally {
                if (socket != null) {
                    socket.close();
                }
            }
            assertThat(http.get("/healthz").status()).isEqualTo(200);
        }
        System.out.println("mutations: by status (0 = closed without an answer) " + statuses);
        assertThat(statuses.keySet()).as("some still are valid, others not").contains(200, 201, 400);
    }

    private String request() {
        String[] target = TARGETS[random.nextInt(TARGETS.length)];
        String body = target[3].isEmpty() ? "" : BODIES[Integer.parseInt(target[3])];
        int bytes = body.getBytes(StandardCharsets.UTF_8).length;
        return target[0] + " " + target[1] + " HTTP/1.1\r\nHost: localhost\r\n"
                + (target[2].isEmpty() ? "" : "Content-Type: " + target[2] + "\r\nContent-Length: " + bytes + "\r\n")
                + (random.nextInt(4) == 0 ? "Idempotency-Key: \"key-" + random.nextInt(9) + "\"\r\n" : "")
                + "\r\n" + body;
    }

    /** Mostly the body, whose length is kept, so that most requests are answered and the connection stays. */
    private byte[] mutated(String request) {
        byte[] bytes = request.getBytes(StandardCharsets.UTF_8);
        int head = request.indexOf("\r\n\r\n") + 4;
        boolean inBody = head < bytes.length && random.nextInt(10) > 0;
        int from = inBody ? head : 0;
        int to = inBody ? bytes.length : request.indexOf("\r\n");
        for (int changes = random.nextInt(4); changes >= 0; changes--) {
            int at = from + random.nextInt(to - from);
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] = (byte) random.nextInt(256);
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> bytes[at] = (byte) "{}[]\",:\\0-9eE.\u0000\n".charAt(random.nextInt(16));
                case 3 -> bytes[at] = bytes[from + random.nextInt(to - from)];
                default -> {
                    int length = Math.min(1 + random.nextInt(12), to - at);
                    int other = from + random.nextInt(to - from - length + 1);
                    System.arraycopy(bytes.clone(), other, bytes, at, length);
                }
            }
        }
        return bytes;
    }

    /** The status of the answer; null when the connection has been, or is to be, closed. */
    private static @Nullable Integer send(Socket socket, byte[] request) throws IOException {
        socket.setSoTimeout(10_000);
        try {
            socket.getOutputStream().write(request);
            InputStream in = socket.getInputStream();
            String head = line(in);
            int status = Integer.parseInt(head.split(" ")[1]);
            int length = 0;
            boolean chunked = false;
            boolean close = status >= 400 && head.startsWith("HTTP/1.0");
            String header;
            while (!(header = line(in).toLowerCase(java.util.Locale.ROOT)).isEmpty()) {
                if (header.startsWith("content-length:")) {
                    length = Integer.parseInt(header.substring(15).trim());
                }
                chunked |= header.startsWith("transfer-encoding:");
                close |= header.startsWith("connection:") && header.contains("close");
            }
            if (chunked) {
                int size;
                while ((size = Integer.parseInt(line(in), 16)) > 0) {
                    in.readNBytes(size + 2);
                }
                line(in);
            } else {
                in.readNBytes(length);
            }
            if (close) {
                socket.close();
            }
            return status;
        } catch (EOFException | SocketTimeoutException | java.net.SocketException closed) {
            return null;
        }
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next;
        while ((next = in.read()) != '\n') {
            if (next < 0) {
                throw new EOFException();
            }
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }
}

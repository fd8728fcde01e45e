package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.PlayedNode;
import io.minutehand.router.http.TestRouter.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many jobs at once: a result for each, in order, and bounded memory. */
class BatchIT {
    private static final String BATCH = "/v1/jobs:batch";
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static TestRouter http;

    @TempDir
    static Path directory;

    @BeforeAll
    static void start() {
        http = TestRouter.start(TestRouter.settings().withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(1)));
    }

    @AfterAll
    static void stop() {
        http.close();
    }

    private static Answer lines(TestRouter to, String path, String text, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("Content-Type", "application/x-ndjson"));
        return to.send("POST", path, BodyPublishers.ofString(text), all.toArray(String[]::new));
    }

    private static List<JsonNode> read(Answer answer) throws IOException {
        List<JsonNode> nodes = new ArrayList<>();
        for (String line : new String(answer.response().body(), StandardCharsets.UTF_8).split("\n")) {
            nodes.add(MAPPER.readTree(line));
        }
        return nodes;
    }

    private static String job(String topic, String id) {
        return "{\"topic\":\"" + topic + "\",\"id\":\"" + id + "\",\"delay\":60000,\"payload\":{\"n\":1}}";
    }

    /** It would be stored twice by a client that repeats what got no answer, trusting in its key. */
    @Test
    void shouldRefuseAnIdempotencyKeyForManyJobs() throws IOException {
        String job = "{\"topic\":\"keyed\",\"delay\":60000}";
        Answer array = http.send(
                "POST",
                BATCH,
                BodyPublishers.ofString("[" + job + "]"),
                "Content-Type",
                "application/json",
                "Idempotency-Key",
                "k");
        Answer stream = lines(http, BATCH, job, "Idempotency-Key", "k");
        for (Answer answer : List.of(array, stream)) {
            assertThat(answer.status()).as("%s", answer).isEqualTo(400);
            assertThat(answer.body().path("parameter").asText()).isEqualTo("Idempotency-Key");
        }
    }

    @Test
    void shouldAnswerEachItemOfAnArray() {
        String bad = "{\"topic\":\"array\",\"id\":\"{}\"}";
        String other = "{\"topic\":\"array\",\"id\":\"a\",\"delay\":1}";
        String body = "["
                + String.join(" , ", job("array", "a"), bad, "7", job("array2", "b"), job("array", "a"), other, "{}")
                + "]";
        Answer answer = http.post(BATCH, body);
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        assertThat(answer.body().path("accepted").asInt()).isEqualTo(3);
        assertThat(answer.body().path("rejected").asInt()).isEqualTo(4);
        JsonNode results = answer.body().path("results");
        assertThat(results.findValuesAsText("index")).containsExactly("0", "1", "2", "3", "4", "5", "6");
        List<Integer> statuses = new ArrayList<>();
        results.forEach(result -> statuses.add(result.path("status").asInt()));
        assertThat(statuses).containsExactly(201, 400, 400, 201, 200, 409, 400);
        assertThat(results.get(4).path("outcome").asText()).isEqualTo("EXISTS");
        assertThat(results.get(1).path("problem").path("pointer").asText()).isEqualTo("/id");
        assertThat(results.get(6).path("problem").path("pointer").asText()).isEqualTo("/topic");
        assertThat(results.get(5).path("problem").path("type").asText()).isEqualTo("/problems/conflict");
    }

    @Test
    void shouldStoreNothingOfAnArrayThatIsNoneOrTooLong() {
        assertThat(http.post(BATCH, "{}").status()).isEqualTo(400);
        assertThat(http.post(BATCH, "[" + job("none", "a") + ",").status()).isEqualTo(400);
        String jobs =
                IntStream.range(0, 501).mapToObj(i -> job("none", "n" + i)).collect(Collectors.joining(","));
        Answer tooMany = http.post(BATCH, "[" + jobs + "]");
        assertThat(tooMany.status()).isEqualTo(413);
        assertThat(tooMany.text("detail")).contains("500", "ndjson");
        assertThat(http.get("/v1/topics/none/jobs/n0").problem()).isEqualTo("unknown-topic");
        assertThat(http.post(BATCH, "[]").status()).isEqualTo(200);
    }

    @Test
    void shouldAnswerEachLineOfAStreamInOrder() throws Exception {
        String text = job("lines", "a") + "\n\n" + "nonsense\r\n" + job("lines", "b") + "\n" + job("lines", "a");
        Answer answer = lines(http, BATCH, text);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("Content-Type")).isEqualTo("application/x-ndjson");
        List<JsonNode> nodes = read(answer);
        assertThat(nodes).hasSize(5);
        assertThat(nodes.subList(0, 4).stream().map(node -> node.path("status").asInt()))
                .containsExactly(201, 400, 201, 200);
        assertThat(nodes.subList(0, 4).stream().map(node -> node.path("index").asInt()))
                .containsExactly(0, 1, 2, 3);
        assertThat(nodes.get(4).path("summary").path("accepted").asInt()).isEqualTo(3);
        assertThat(nodes.get(4).path("summary").path("rejected").asInt()).isEqualTo(1);
    }

    @Test
    void shouldTellOnlyOfWhatWasRejectedIfAskedTo() throws Exception {
        Answer answer =
                lines(http, BATCH + "?results=rejected", job("few", "a") + "\nnonsense\n" + job("few", "b") + "\n");
        List<JsonNode> nodes = read(answer);
        assertThat(nodes).hasSize(2);
        assertThat(nodes.get(0).path("index").asInt()).isEqualTo(1);
        assertThat(nodes.get(1).path("summary").path("accepted").asInt()).isEqualTo(2);
    }

    @Test
    void shouldSkipALineThatIsTooLongAndGoOn() throws Exception {
        String text = job("long", "a") + "\n" + "x".repeat(1_000_000) + "\n" + job("long", "b") + "\n";
        List<JsonNode> nodes = read(lines(http, BATCH, text));
        assertThat(nodes.stream().map(node -> node.path("status").asInt())).containsExactly(201, 413, 201, 0);
    }

    /** Often: it once stood still when all answers of a full window came before the stream looked at any, in one of ten runs. */
    @RepeatedTest(15)
    void shouldStoreEveryLineOfALongStreamOnce(RepetitionInfo run) throws Exception {
        int jobs = 20_000;
        String topic = "many" + run.getCurrentRepetition();
        String text =
                IntStream.range(0, jobs).mapToObj(i -> job(topic, "m" + i)).collect(Collectors.joining("\n"));
        Answer answer = lines(http, BATCH + "?results=rejected", text);
        List<JsonNode> nodes = read(answer);
        assertThat(nodes).hasSize(1);
        assertThat(nodes.get(0).path("summary").path("accepted").asInt()).isEqualTo(jobs);
        try (PlayedNode node = new PlayedNode(http.redis(), topic, TopicSettings.defaults())) {
            assertThat(node.pending()).isEqualTo(jobs);
            assertThat(node.missing()).isZero();
        }
    }

    @Test
    void shouldConfineItemsToTheKeysTopicsAndStreamsToItsRate() throws Exception {
        ApiKeys.Fresh fresh = ApiKeys.fresh("a", List.of("produce:mine.*"), 100);
        ObjectNode document = MAPPER.createObjectNode();
        document.withArray("keys").add(fresh.entry());
        Path file = directory.resolve("keys.json");
        Files.writeString(file, document.toString());
        try (TestRouter guarded = TestRouter.start(TestRouter.settings().withKeys(file))) {
            String key = "Bearer " + fresh.key();
            Answer answer =
                    guarded.post(BATCH, "[" + job("mine.a", "1") + "," + job("other", "1") + "]", "Authorization", key);
            JsonNode results = answer.body().path("results");
            assertThat(results.get(0).path("status").asInt()).isEqualTo(201);
            assertThat(results.get(1).path("status").asInt()).isEqualTo(403);

            long beganNs = System.nanoTime();
            String text = IntStream.range(0, 200)
                    .mapToObj(i -> job("mine.a", "r" + i))
                    .collect(Collectors.joining("\n"));
            List<JsonNode> nodes = read(lines(guarded, BATCH + "?results=rejected", text, "Authorization", key));
            assertThat(nodes.get(0).path("summary").path("accepted").asInt()).isEqualTo(200);
            assertThat(Duration.ofNanos(System.nanoTime() - beganNs))
                    .as("200 jobs, 100 at once and 100 a second")
                    .isGreaterThan(Duration.ofMillis(900));
        }
    }

    @Test
    void shouldEndAStreamWhoseKeyIsNotValidAnyMore() throws Exception {
        ApiKeys.Fresh fresh = ApiKeys.fresh("a", List.of("produce:*"), null);
        ApiKeys.Fresh other = ApiKeys.fresh("b", List.of("produce:*"), null);
        Path file = directory.resolve("revoked.json");
        ObjectNode document = MAPPER.createObjectNode();
        document.withArray("keys").add(fresh.entry());
        Files.writeString(file, document.toString());
        try (TestRouter guarded = TestRouter.start(TestRouter.settings().withKeys(file));
                Socket socket = guarded.socket()) {
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            out.write(("POST " + BATCH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                            + "Authorization: Bearer " + fresh.key() + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            String before = job("t", "before") + "\n";
            out.write((Integer.toHexString(before.length()) + "\r\n" + before + "\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            TestRouter.readUntil(in, "\"id\":\"before\"");

            ObjectNode others = MAPPER.createObjectNode();
            others.withArray("keys").add(other.entry());
            Files.writeString(file, others.toString() + "\n");
            await().atMost(Duration.ofSeconds(20))
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> guarded.get("/v1/topics/t/jobs/before", "Authorization", "Bearer " + fresh.key())
                                    .status()
                            == 401);
            String after = job("t", "after") + "\n";
            out.write((Integer.toHexString(after.length()) + "\r\n" + after + "\r\n")
                    .getBytes(StandardCharsets.US_ASCII));

            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"status\":401", "invalid-key")
                    .doesNotContain("\"id\":\"after\"");
        }
    }

    @Test
    void shouldAnswerWhileTheStreamStillComesAndEndItWhenItFallsSilent() throws Exception {
        try (Socket socket = http.socket()) {
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            out.write(("POST " + BATCH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            for (int i = 0; i < 3; i++) {
                String line = job("slow", "s" + i) + "\n";
                out.write((Integer.toHexString(line.length()) + "\r\n" + line + "\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
                TestRouter.readUntil(in, "\"id\":\"s" + i + "\"");
            }
            String end = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(end).contains("\"status\":408", "request-timeout");
        }
    }

    /** Who sends and does not read is not read either: the router holds what fits its buffers, no more. */
    @Test
    void shouldNotTakeMoreThanItCanAnswer() throws Exception {
        long sentBytes = 0;
        String chunk = IntStream.range(0, 500).mapToObj(i -> "nonsense").collect(Collectors.joining("\n", "", "\n"));
        byte[] bytes =
                (Integer.toHexString(chunk.length()) + "\r\n" + chunk + "\r\n").getBytes(StandardCharsets.US_ASCII);
        try (Socket socket = http.socket()) {
            OutputStream out = socket.getOutputStream();
            out.write(("POST " + BATCH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            while (sentBytes < 200_000_000) {
                out.write(bytes);
                sentBytes += bytes.length;
            }
        } catch (IOException closed) {
            // It waited for its answers to be read, and then no longer.
        }
        assertThat(sentBytes).isLessThan(100_000_000);
        assertThat(http.get("/healthz").status()).isEqualTo(200);
    }
}

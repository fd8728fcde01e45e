package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobState;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.PlayedNode;
import io.minutehand.router.http.TestRouter.Answer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Single jobs over HTTP, every outcome that a healthy Redis gives. */
class JobsIT {
    private static final String JOBS = "/v1/topics/t/jobs";
    private static TestRouter http;
    private static PlayedNode node;

    @BeforeAll
    static void start() {
        http = TestRouter.start();
        assertThat(http.post(JOBS, "{}").status()).isEqualTo(201);
        node = new PlayedNode(http.redis(), "t", TopicSettings.defaults());
    }

    @AfterAll
    static void stop() {
        assertThat(node.missing()).as("jobs that the ledgers miss").isZero();
        node.close();
        http.close();
    }

    private static String stored(String id) {
        return new String(
                http.router().topic("t").find(id).join().orElseThrow().job().payload(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldCreateAJobAndSayWhereItIs() {
        Answer answer = http.post(JOBS, """
                {"id": "a:1", "businessId": "order-7", "headers": {"trace": "x"}, "delay": "PT30M",
                 "payload": { "order" : 10086,  "tags":["ü", 1.50] } }
                """);
        assertThat(answer.status()).as("%s", answer).isEqualTo(201);
        assertThat(answer.header("Location")).isEqualTo(JOBS + "/a:1");
        assertThat(answer.text("outcome")).isEqualTo("CREATED");
        assertThat(answer.text("id")).isEqualTo("a:1");
        assertThat(answer.header("X-Request-Id")).isNotEmpty();
        assertThat(stored("a:1")).as("byte by byte").isEqualTo("{ \"order\" : 10086,  \"tags\":[\"ü\", 1.50] }");

        Answer shown = http.get(answer.header("Location"));
        assertThat(shown.status()).isEqualTo(200);
        assertThat(shown.text("state")).isEqualTo("PENDING");
        assertThat(shown.text("businessId")).isEqualTo("order-7");
        assertThat(shown.body().path("headers").path("trace").asText()).isEqualTo("x");
        assertThat(shown.body().path("payload").path("order").asInt()).isEqualTo(10086);
        assertThat(shown.text("dueAt")).isEqualTo(answer.text("dueAt"));
        Duration delay = Duration.between(Instant.parse(shown.text("createdAt")), Instant.parse(shown.text("dueAt")));
        assertThat(delay)
                .isBetween(
                        Duration.ofMinutes(30).minusSeconds(10),
                        Duration.ofMinutes(30).plusSeconds(1));
    }

    @Test
    void shouldAnswerARepeatAsSuchAndChangeNothing() {
        String body = "{\"id\":\"repeat\",\"delay\":60000,\"payload\":1}";
        assertThat(http.post(JOBS, body).status()).isEqualTo(201);
        Answer again = http.post(JOBS, body);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.text("outcome")).isEqualTo("EXISTS");
        assertThat(again.text("state")).isEqualTo("PENDING");
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    }

    @Test
    void shouldRefuseAnotherRequestWithTheSameIdAndSayWhatToDo() {
        http.post(JOBS, "{\"id\":\"taken\",\"delay\":60000,\"payload\":1}");
        Answer conflict = http.post(JOBS, "{\"id\":\"taken\",\"delay\":60000,\"payload\":2}");
        assertThat(conflict.status()).isEqualTo(409);
        assertThat(conflict.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(conflict.problem()).isEqualTo("conflict");
        assertThat(conflict.text("state")).isEqualTo("PENDING");
        assertThat(conflict.text("id")).isEqualTo("taken");
        assertThat(conflict.text("remedy")).contains("PATCH");
        assertThat(stored("taken")).isEqualTo("1");

        Answer replaced = http.post(JOBS, "{\"id\":\"taken\",\"delay\":60000,\"payload\":2,\"replace\":true}");
        assertThat(replaced.status()).isEqualTo(200);
        assertThat(replaced.text("outcome")).isEqualTo("REPLACED");
        assertThat(stored("taken")).isEqualTo("2");
    }

    @Test
    void shouldTakeTheIdempotencyKeyAsId() {
        Answer created = http.post(JOBS, "{\"delay\":60000}", "Idempotency-Key", "\"key-1\"");
        assertThat(created.status()).isEqualTo(201);
        assertThat(created.text("id")).isEqualTo("key-1");
        assertThat(http.post(JOBS, "{\"delay\":60000}", "Idempotency-Key", "key-1")
                        .status())
                .isEqualTo(200);
        assertThat(http.post(JOBS, "{\"delay\":60000,\"id\":\"key-1\"}", "Idempotency-Key", "key-1")
                        .status())
                .isEqualTo(200);
        assertThat(http.post(JOBS, "{\"id\":\"other\"}", "Idempotency-Key", "key-1")
                        .status())
                .isEqualTo(422);
        assertThat(http.post(JOBS, "{}", "Idempotency-Key", "two words").problem())
                .isEqualTo("malformed-request");
    }

    @Test
    void shouldStoreNoJobThatNoPathCouldName() {
        for (String id : new String[] {".", ".."}) {
            Answer refused = http.post(JOBS, "{\"delay\":60000,\"id\":\"" + id + "\"}");
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text("pointer")).isEqualTo("/id");
            assertThat(http.post(JOBS, "{\"delay\":60000}", "Idempotency-Key", id)
                            .status())
                    .isEqualTo(400);
        }
    }

    @Test
    void shouldMakeAnIdWhereThereIsNone() {
        Answer one = http.post(JOBS, "{\"delay\":60000}");
        Answer two = http.post(JOBS, "{\"delay\":60000}");
        assertThat(one.status()).isEqualTo(201);
        assertThat(two.status()).isEqualTo(201);
        assertThat(one.text("id")).hasSize(32).isNotEqualTo(two.text("id"));
    }

    @Test
    void shouldKeepBytesThatAreNoJson() {
        byte[] bytes = {0, 1, (byte) 0xff, '{'};
        String base64 = Base64.getEncoder().encodeToString(bytes);
        http.post(JOBS, "{\"id\":\"binary\",\"delay\":60000,\"payloadBase64\":\"" + base64 + "\"}");
        assertThat(http.router()
                        .topic("t")
                        .find("binary")
                        .join()
                        .orElseThrow()
                        .job()
                        .payload())
                .isEqualTo(bytes);
        Answer shown = http.get(JOBS + "/binary");
        assertThat(shown.text("payloadBase64")).isEqualTo(base64);
        assertThat(shown.body().has("payload")).isFalse();
    }

    @Test
    void shouldTakeATimeInBothForms() {
        Instant due = Instant.parse("2030-01-31T08:00:00.250Z");
        Answer text = http.post(JOBS, "{\"id\":\"due1\",\"dueAt\":\"2030-01-31T09:00:00.250+01:00\"}");
        Answer number = http.post(JOBS, "{\"id\":\"due2\",\"dueAt\":" + due.toEpochMilli() + "}");
        assertThat(Instant.parse(text.text("dueAt"))).isEqualTo(due);
        assertThat(Instant.parse(number.text("dueAt"))).isEqualTo(due);
    }

    @Test
    void shouldCancelAndTellTheTruthWhenAskedAgain() {
        http.post(JOBS, "{\"id\":\"cancel\",\"delay\":60000}");
        assertThat(http.delete(JOBS + "/cancel").text("outcome")).isEqualTo("CANCELLED");
        assertThat(http.delete(JOBS + "/cancel").status()).isEqualTo(200);
        assertThat(http.get(JOBS + "/cancel").text("state")).isEqualTo("CANCELLED");
        assertThat(http.patch(JOBS + "/cancel", "{\"delay\":1}").problem()).isEqualTo("ended");
    }

    @Test
    void shouldMoveAJob() {
        http.post(JOBS, "{\"id\":\"move\",\"delay\":60000}");
        assertThat(http.patch(JOBS + "/move", "{\"dueAt\":\"2030-01-31T08:00:00Z\"}")
                        .text("outcome"))
                .isEqualTo("MOVED");
        assertThat(http.get(JOBS + "/move").text("dueAt")).isEqualTo("2030-01-31T08:00:00Z");
        Answer merged =
                http.patch(JOBS + "/move", "{\"delay\":\"PT1H\"}", "Content-Type", "application/merge-patch+json");
        assertThat(merged.status()).isEqualTo(200);
    }

    @Test
    void shouldSayThatAJobRunsOrHasEnded() {
        http.post(JOBS, "{\"id\":\"run\"}");
        var taken = node.take("run");
        assertThat(http.delete(JOBS + "/run").problem()).isEqualTo("running");
        assertThat(http.patch(JOBS + "/run", "{\"delay\":1}").status()).isEqualTo(409);
        Answer replacing = http.post(JOBS, "{\"id\":\"run\",\"payload\":1,\"replace\":true}");
        assertThat(replacing.status()).isEqualTo(409);
        assertThat(replacing.problem()).isEqualTo("running");
        assertThat(http.get(JOBS + "/run").text("state")).isEqualTo(JobState.IN_FLIGHT.name());
        node.finish(taken);
        Answer ended = http.delete(JOBS + "/run");
        assertThat(ended.status()).isEqualTo(409);
        assertThat(ended.problem()).isEqualTo("ended");
        assertThat(ended.text("state")).isEqualTo("DONE");
    }

    @Test
    void shouldNotFindWhatIsNotThereAndNotMakeATopicOfTheQuestion() {
        assertThat(http.get(JOBS + "/nobody").problem()).isEqualTo("job-not-found");
        assertThat(http.delete(JOBS + "/nobody").status()).isEqualTo(404);
        assertThat(http.get("/v1/topics/nowhere/jobs/nobody").problem()).isEqualTo("unknown-topic");
        assertThat(http.delete("/v1/topics/nowhere/jobs/nobody").problem()).isEqualTo("unknown-topic");
        assertThat(http.patch("/v1/topics/nowhere/jobs/nobody", "{\"delay\":1}").problem())
                .isEqualTo("unknown-topic");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    nonsense                                         | 400 | malformed-request |
                    ''                                               | 400 | malformed-request |
                    []                                               | 400 | malformed-request |
                    {"id":"a"} {}                                    | 400 | malformed-request |
                    {"id":"a","id":"a"}                              | 400 | malformed-request |
                    {"payload":{"a":1,"a":2}}                        | 400 | malformed-request |
                    {"payload":NaN}                                  | 400 | malformed-request |
                    {"payload":01}                                   | 400 | malformed-request |
                    {"payload":"\\q"}                                | 400 | malformed-request |
                    {"payload":1,}                                   | 400 | malformed-request |
                    {"id":7}                                         | 400 | malformed-request | /id
                    {"id":"{t}"}                                     | 400 | malformed-request | /id
                    {"id":""}                                        | 400 | malformed-request | /id
                    {"delay":"soon"}                                 | 400 | malformed-request | /delay
                    {"delay":1.5}                                    | 400 | malformed-request | /delay
                    {"delay":99999999999999999999}                   | 400 | malformed-request | /delay
                    {"delay":9999999999999}                          | 422 | invalid-request   | /delay
                    {"dueAt":"2030-01-31"}                           | 400 | malformed-request | /dueAt
                    {"dueAt":"2130-01-31T00:00:00Z"}                 | 422 | invalid-request   |
                    {"dueAt":9223372036854775807}                    | 422 | invalid-request   |
                    {"dueAt":1,"delay":1}                            | 422 | invalid-request   | /dueAt
                    {"payload":1,"payloadBase64":"AA=="}             | 422 | invalid-request   | /payloadBase64
                    {"payloadBase64":"%"}                            | 400 | malformed-request | /payloadBase64
                    {"headers":{"a":1}}                              | 400 | malformed-request | /headers
                    {"headers":{"a":"x\\ny"}}                        | 400 | malformed-request | /headers
                    {"businessId":"\\ud800"}                         | 400 | malformed-request | /businessId
                    {"replace":"yes"}                                | 400 | malformed-request | /replace
                    {"topic":"t"}                                    | 422 | invalid-request   |
                    {"pay_load":1}                                   | 422 | invalid-request   |
                    """)
    void shouldRefuseWhatItCannotReadAndPointToIt(String body, int status, String problem, String pointer) {
        Answer answer = http.post(JOBS, body);
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        assertThat(answer.problem()).isEqualTo(problem);
        assertThat(answer.text("detail")).isNotEmpty();
        assertThat(answer.text("remedy")).isNotEmpty();
        if (pointer != null) {
            assertThat(answer.text("pointer")).isEqualTo(pointer);
        }
    }

    @Test
    void shouldRefuseBodiesThatAreNotUtf8() {
        byte[] latin = "{\"payload\":\"\u00fc\"}".getBytes(StandardCharsets.ISO_8859_1);
        byte[] utf16 = "{}".getBytes(StandardCharsets.UTF_16BE);
        byte[] surrogate = {
            '{', '"', 'p', 'a', 'y', 'l', 'o', 'a', 'd', '"', ':', '"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"', '}'
        };
        for (byte[] body : new byte[][] {latin, utf16, surrogate}) {
            Answer answer = http.send(
                    "POST",
                    JOBS,
                    java.net.http.HttpRequest.BodyPublishers.ofByteArray(body),
                    "Content-Type",
                    "application/json");
            assertThat(answer.status()).as("%s", answer).isEqualTo(400);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/topics/%7Bt%7D/jobs,                   400",
        "/v1/topics/T/jobs,                         400",
        "/v1/topics/a%0Ab/jobs,                     400",
        "/v1/topics/a%00b/jobs,                     400",
        "/v1/topics/%FF/jobs,                       400",
        "/v1/topics/%zz/jobs,                       400",
        "/v1/topics/a%2Fb/jobs,                     400",
        "/v1/nothing,                               404",
        "/v1/topics/t/jobs/x/y,                     404",
        "/v1/topics/t/jobs/x,                       405",
    })
    void shouldRefusePathsThatNameNothing(String path, int status) throws Exception {
        String answer = http.raw(
                "POST " + path
                        + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");
        assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains("application/problem+json");
    }

    @Test
    void shouldNameTheMethodsThatAreAllowed() {
        Answer answer = http.post(JOBS + "/x", "{}");
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.header("Allow")).isEqualTo("DELETE, GET, PATCH");
    }

    @ParameterizedTest
    @CsvSource({
        "text/plain, identity",
        "application/x-www-form-urlencoded, identity",
        "application/json;charset=latin1, identity",
        "application/json, gzip",
    })
    void shouldRefuseOtherMediaTypesAndCodings(String type, String coding) {
        Answer answer = http.post(JOBS, "{}", "Content-Type", type, "Content-Encoding", coding);
        assertThat(answer.status()).isEqualTo(415);
        assertThat(answer.header("Accept")).isEqualTo("application/json");
        assertThat(http.post(JOBS, "{}", "Content-Type", "Application/JSON; charset=UTF-8")
                        .status())
                .isEqualTo(201);
    }

    @Test
    void shouldKeepTheCallersRequestIdUnlessItIsHarmful() {
        assertThat(http.post(JOBS, "{}", "X-Request-Id", "abc-1").header("X-Request-Id"))
                .isEqualTo("abc-1");
        assertThat(http.post(JOBS, "{", "X-Request-Id", "a b").text("requestId"))
                .isNotEmpty()
                .isNotEqualTo("a b");
    }

    @Test
    void shouldTellThatItIsWell() {
        assertThat(http.get("/healthz").text("status")).isEqualTo("UP");
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> http.get("/readyz").text("status").equals("READY"));
    }
}

package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.PlayedNode;
import io.minutehand.router.http.TestRouter.Answer;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Topics, dead letters, nodes and buckets over HTTP, and the document of it all. */
class ResourcesIT {
    private static TestRouter http;

    @BeforeAll
    static void start() {
        http = TestRouter.start();
    }

    @AfterAll
    static void stop() {
        http.close();
    }

    private static Answer put(String path, String json) {
        return http.send("PUT", path, BodyPublishers.ofString(json), "Content-Type", "application/json");
    }

    @Test
    void shouldDescribeEveryRouteAndNoOther() {
        Set<String> routes = new TreeSet<>();
        http.http().routes().forEach(route -> routes.add(route.method() + " " + route.template()));
        assertThat(Contract.operations()).isEqualTo(routes);
        Answer answer = http.get("/openapi.json");
        assertThat(answer.body()).isEqualTo(Contract.DOCUMENT);
        assertThat(answer.text("openapi")).isEqualTo("3.1.0");
        Set<String> ids = new HashSet<>();
        Contract.DOCUMENT
                .path("paths")
                .forEach(path -> path.forEach(operation -> assertThat(
                                ids.add(operation.path("operationId").asText()))
                        .isTrue()));
    }

    @Test
    void shouldSayThatAPortIsTaken() {
        assertThatThrownBy(() -> TestRouter.start(
                        TestRouter.settings().withPort(http.http().port())))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("in use");
    }

    @Test
    void shouldDescribeEveryProblem() {
        Set<String> described = new TreeSet<>();
        Contract.DOCUMENT
                .at("/components/schemas/Problem/properties/type/enum")
                .forEach(uri -> described.add(uri.asText()));
        Set<String> known = new TreeSet<>();
        for (ProblemType type : ProblemType.values()) {
            known.add(type.uri());
        }
        assertThat(described).isEqualTo(known);
    }

    @Test
    void shouldListEveryProblemInTheReadme() throws Exception {
        String readme = Files.readString(Path.of("../README.md"));
        for (ProblemType type : ProblemType.values()) {
            assertThat(readme).contains("`" + type.uri().replace("/problems/", "") + "`");
        }
    }

    @Test
    void shouldDeclareShowAndChangeATopic() {
        String path = "/v1/topics/declared";
        assertThat(http.get(path).status()).isEqualTo(404);
        Answer created = put(path, "{\"shards\":4,\"retry\":{\"kind\":\"FIXED\",\"first\":\"PT5S\",\"max\":\"PT5S\"}}");
        assertThat(created.status()).as("%s", created).isEqualTo(201);
        assertThat(created.header("Location")).isEqualTo(path);
        assertThat(put(path, "{\"shards\":4,\"retry\":{\"kind\":\"FIXED\",\"first\":\"PT5S\",\"max\":\"PT5S\"}}")
                        .status())
                .isEqualTo(200);
        assertThat(put(path, "{\"shards\":5}").problem()).isEqualTo("changed");

        Answer changed = http.patch(path, "{\"visibility\":\"PT45S\",\"retry\":{\"retries\":2}}");
        assertThat(changed.status()).as("%s", changed).isEqualTo(200);
        assertThat(changed.body().path("settings").path("visibility").asText()).isEqualTo("PT45S");
        assertThat(changed.body().path("settings").path("retry").path("kind").asText())
                .isEqualTo("FIXED");
        assertThat(http.patch(path, "{\"shards\":16}").text("detail")).contains("reshard");
        assertThat(http.patch("/v1/topics/nowhere", "{\"deadLimit\":5}").problem())
                .isEqualTo("unknown-topic");

        http.post(path + "/jobs", "{\"delay\":60000}");
        Answer shown = http.get(path);
        assertThat(shown.body().path("settings").path("shards").asInt()).isEqualTo(4);
        assertThat(shown.body().path("counts").path("pending").asInt()).isEqualTo(1);
        Answer list = http.get("/v1/topics");
        assertThat(list.body().path("topics").findValuesAsText("topic")).contains("declared");
    }

    @Test
    void shouldPauseAndResumeATopic() {
        String path = "/v1/topics/paused";
        assertThat(put(path + "/pause", "{}").problem()).isEqualTo("unknown-topic");
        assertThat(put(path, "{}").body().path("paused").asBoolean()).isFalse();

        Answer paused = put(path + "/pause", "{\"for\":\"PT10M\"}");

        assertThat(paused.status()).as("%s", paused).isEqualTo(200);
        assertThat(paused.body().path("paused").asBoolean()).isTrue();
        assertThat(Instant.parse(paused.text("pausedUntil")))
                .isBetween(Instant.now().plusSeconds(540), Instant.now().plusSeconds(660));
        assertThat(put(path + "/pause", "{}").body().has("pausedUntil"))
                .as("until it is resumed")
                .isFalse();
        assertThat(http.patch(path, "{\"visibility\":\"PT45S\"}")
                        .body()
                        .path("paused")
                        .asBoolean())
                .as("other settings leave it paused")
                .isTrue();
        assertThat(http.get(path).body().path("paused").asBoolean()).isTrue();
        assertThat(http.delete(path + "/pause").body().path("paused").asBoolean())
                .isFalse();
        assertThat(http.delete(path + "/pause").status()).as("again").isEqualTo(200);
        assertThat(http.get(path).body().path("paused").asBoolean()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {"for":"10 s"}    | 400
                    {"for":"PT0S"}    | 422
                    {"for":"-PT1S"}   | 422
                    {"for":"P40000D"} | 422
                    {"until":"PT1S"}  | 422
                    []                | 400
                    """)
    void shouldRefuseAPauseThatIsNone(String body, int status) {
        put("/v1/topics/running", "{}");
        Answer answer = put("/v1/topics/running/pause", body);
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        assertThat(http.get("/v1/topics/running").body().path("paused").asBoolean())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {"visibility":"10 s"}             | 400 | /visibility
                    {"visibility":"PT0.1S"}           | 422 | /visibility
                    {"deadLimit":0}                   | 422 | /deadLimit
                    {"deadLimit":1.5}                 | 400 | /deadLimit
                    {"delivery":"SOMETIMES"}          | 400 | /delivery
                    {"retry":7}                       | 400 | /retry
                    {"retry":{"retries":1001}}        | 422 | /retry
                    {"retry":{"jitter":"x"}}          | 400 | /retry/jitter
                    {"retention":"PT1S"}              | 422 | /retention
                    {"paused":true}                   | 422 | ''
                    """)
    void shouldRefuseSettingsThatAreNoneAndPointToThem(String body, int status, String pointer) {
        Answer answer = put("/v1/topics/refused", body);
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        assertThat(answer.text("pointer")).isEqualTo(pointer);
    }

    @Test
    void shouldForecastTheMinutes() {
        put("/v1/topics/forecast", "{}");
        for (int i = 0; i < 30; i++) {
            http.post("/v1/topics/forecast/jobs", "{\"dueAt\":\"2031-01-31T08:0" + i % 3 + ":30Z\"}");
        }
        Answer all = http.get("/v1/topics/forecast/buckets?perSecond=5");
        JsonNode minutes = all.body().path("minutes");
        assertThat(minutes.findValuesAsText("begins"))
                .containsExactly("2031-01-31T08:00:00Z", "2031-01-31T08:01:00Z", "2031-01-31T08:02:00Z");
        assertThat(minutes.findValuesAsText("jobs")).containsExactly("10", "10", "10");
        assertThat(minutes.findValuesAsText("drainMs")).containsExactly("2000", "2000", "2000");
        assertThat(all.body().path("more").asBoolean()).isFalse();
        assertThat(http.get("/v1/topics/forecast/buckets?limit=2")
                        .body()
                        .path("more")
                        .asBoolean())
                .isTrue();
        assertThat(http.get("/v1/topics/forecast/buckets?limit=0").text("parameter"))
                .isEqualTo("limit");
    }

    @Test
    void shouldListRedriveAndPurgeDeadLetters() {
        String path = "/v1/topics/dead";
        put(path, "{}");
        try (PlayedNode node = new PlayedNode(http.redis(), "dead", TopicSettings.defaults())) {
            for (int i = 0; i < 6; i++) {
                http.post(path + "/jobs", "{\"id\":\"d" + i + "\",\"payload\":{\"n\":" + i + "}}");
                node.bury(node.take("d" + i), i < 4 ? "no answer of the bank" : "bad payload");
            }
            Answer list = http.get(path + "/dead-letters");
            assertThat(list.body().path("deadLetters").findValuesAsText("id"))
                    .containsExactlyInAnyOrder("d0", "d1", "d2", "d3", "d4", "d5");
            Answer two = http.get(path + "/dead-letters?limit=2&reason=bank");
            assertThat(two.body().path("deadLetters")).hasSize(2);
            assertThat(two.body().path("more").asBoolean()).isTrue();
            Answer one = http.get(path + "/dead-letters/d4");
            assertThat(one.text("reason")).isEqualTo("bad payload");
            assertThat(one.body().path("job").path("payload").path("n").asInt()).isEqualTo(4);
            assertThat(http.get(path + "/dead-letters/nobody").problem()).isEqualTo("job-not-found");

            Answer dry = http.post(path + "/dead-letters:redrive", "{\"reason\":\"bank\",\"dryRun\":true}");
            assertThat(dry.body().path("matched").asInt()).isEqualTo(4);
            Answer redriven = http.post(path + "/dead-letters:redrive", "{\"reason\":\"bank\"}");
            assertThat(redriven.body().path("done").asInt()).isEqualTo(4);
            assertThat(redriven.body().path("complete").asBoolean()).isTrue();
            assertThat(http.get(path + "/jobs/d0").text("state")).isEqualTo("PENDING");
            assertThat(http.post(path + "/dead-letters:purge", "{\"id\":\"d4\"}")
                            .body()
                            .path("done")
                            .asInt())
                    .isEqualTo(1);
            assertThat(http.post(path + "/dead-letters:purge", "{\"all\":true}")
                            .body()
                            .path("done")
                            .asInt())
                    .isEqualTo(1);
            assertThat(http.get(path + "/dead-letters").body().path("deadLetters"))
                    .isEmpty();
            assertThat(node.missing()).isZero();
        }
        for (String bad : new String[] {
            "{}",
            "{\"all\":false}",
            "{\"all\":true,\"id\":\"a\"}",
            "{\"id\":\"{}\"}",
            "{\"all\":1}",
            "{\"all\":true,\"perSecond\":0}",
            "{\"every\":1}"
        }) {
            assertThat(http.post(path + "/dead-letters:purge", bad).status())
                    .as(bad)
                    .isIn(400, 422);
        }
        assertThat(http.post("/v1/topics/nowhere/dead-letters:purge", "{\"all\":true}")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void shouldListNodes() {
        assertThat(http.get("/v1/nodes").body().path("nodes")).isEmpty();
    }
}

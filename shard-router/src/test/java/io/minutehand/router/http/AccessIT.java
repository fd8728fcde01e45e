package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.router.http.Route.Access;
import io.minutehand.router.http.TestRouter.Answer;
import io.vertx.core.http.HttpMethod;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may do what; walks every route of the table. */
class AccessIT {
    @TempDir
    static Path directory;

    private static TestRouter http;
    private static Path file;
    private static String all;
    private static String orders;
    private static String reader;
    private static String expired;
    private static String slow;

    private static String make(ObjectNode document, String id, Integer rate, String... scopes) {
        ApiKeys.Fresh fresh = ApiKeys.fresh(id, List.of(scopes), rate);
        document.withArray("keys").add(fresh.entry());
        return fresh.key();
    }

    private static ObjectNode last(ObjectNode document) {
        return (ObjectNode) document.path("keys").get(document.path("keys").size() - 1);
    }

    @BeforeAll
    static void start() throws Exception {
        file = directory.resolve("keys.json");
        ObjectNode document = Json.MAPPER.createObjectNode();
        all = make(document, "all", null, "admin:*");
        orders = make(document, "orders", null, "produce:orders.*", "read:orders.closing");
        reader = make(document, "reader", null, "read:*");
        slow = make(document, "slow", 2, "produce:*");
        expired = make(document, "expired", null, "admin:*");
        last(document).put("expires", "2020-01-01T00:00:00Z");
        Files.writeString(file, document.toString());
        http = TestRouter.start(TestRouter.settings().withKeys(file));
    }

    @AfterAll
    static void stop() {
        http.close();
    }

    private static Answer call(Route route, String... headers) {
        String path = route.template().replace("{topic}", "elsewhere").replace("{id}", "a");
        boolean body = route.method() == HttpMethod.POST
                || route.method() == HttpMethod.PATCH
                || route.method() == HttpMethod.PUT;
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("Content-Type", "application/json"));
        return http.send(
                route.method().name(),
                path,
                body ? BodyPublishers.ofString("{}") : BodyPublishers.noBody(),
                all.toArray(String[]::new));
    }

    private static String[] bearer(String key) {
        return new String[] {"Authorization", "Bearer " + key};
    }

    @Test
    void shouldAnswerNoRouteWithoutAValidKeyButHealth() {
        String wrong = all.substring(0, all.length() - 2) + (all.endsWith("AA") ? "BB" : "AA");
        String[][] attempts = {
            {},
            {"Authorization", "Basic " + all},
            {"Authorization", "Bearer "},
            bearer(wrong),
            bearer("mh_nobody_" + "A".repeat(43)),
            bearer("mh_all_"),
            bearer("mh_anybody_"),
            bearer(expired),
            {"X-Api-Key", all},
        };
        int guarded = 0;
        for (Route route : http.http().routes()) {
            for (String[] attempt : attempts) {
                Answer answer = call(route, attempt);
                if (route.access() == Access.OPEN) {
                    assertThat(answer.status()).as("%s %s", route, answer).isEqualTo(200);
                } else {
                    assertThat(answer.status()).as("%s %s", route, answer).isEqualTo(401);
                    assertThat(answer.header("WWW-Authenticate")).startsWith("Bearer");
                    guarded++;
                }
            }
        }
        System.out.println("routes: " + http.http().routes().size() + ", calls without a valid key: " + guarded);
        assertThat(http.http().routes().stream()
                        .filter(route -> route.access() == Access.OPEN)
                        .map(Route::template))
                .containsExactlyInAnyOrder("/healthz", "/readyz");
    }

    @Test
    void shouldAnswerNoRouteToAKeyOfAnotherTenantOrRight() {
        for (Route route : http.http().routes()) {
            Answer tenant = call(route, bearer(orders));
            Answer reading = call(route, bearer(reader));
            switch (route.access()) {
                case PRODUCE, ADMIN -> {
                    assertThat(tenant.status()).as("%s %s", route, tenant).isEqualTo(403);
                    assertThat(reading.status()).as("%s %s", route, reading).isEqualTo(403);
                    assertThat(reading.text("detail")).contains("elsewhere");
                }
                case READ -> {
                    assertThat(tenant.status()).as("%s %s", route, tenant).isEqualTo(403);
                    assertThat(reading.status()).as("%s %s", route, reading).isNotIn(401, 403);
                }
                case PRODUCE_SOMEWHERE -> {
                    assertThat(tenant.status()).as("%s %s", route, tenant).isNotIn(401, 403);
                    assertThat(reading.status()).as("%s %s", route, reading).isEqualTo(403);
                }
                case READ_ALL ->
                    assertThat(tenant.status()).as("%s %s", route, tenant).isEqualTo(403);
                case READ_SOMEWHERE, ANY_KEY, OPEN ->
                    assertThat(tenant.status()).as("%s %s", route, tenant).isEqualTo(200);
            }
            assertThat(call(route, bearer(all)).status()).as("%s", route).isNotIn(401, 403);
        }
    }

    @Test
    void shouldConfineAKeyToItsTopics() {
        assertThat(http.post("/v1/topics/orders.closing/jobs", "{\"id\":\"a\",\"delay\":60000}", bearer(orders))
                        .status())
                .isEqualTo(201);
        assertThat(http.get("/v1/topics/orders.closing/jobs/a", bearer(orders)).status())
                .isEqualTo(200);
        assertThat(http.get("/v1/topics/orders.other/jobs/a", bearer(orders)).status())
                .isEqualTo(403);
        assertThat(http.post("/v1/topics/orders/jobs", "{}", bearer(orders)).status())
                .isEqualTo(403);
        assertThat(http.delete("/v1/topics/orders.closing/jobs/a", bearer(orders))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void shouldHoldTheRateOfAKey() {
        int limited = 0;
        for (int i = 0; i < 20; i++) {
            Answer answer = http.post("/v1/topics/t/jobs", "{\"delay\":60000}", bearer(slow));
            assertThat(answer.status()).isIn(201, 429);
            if (answer.status() == 429) {
                limited++;
                assertThat(answer.problem()).isEqualTo("rate-limited");
                assertThat(Integer.parseInt(answer.header("Retry-After"))).isBetween(1, 2);
            }
        }
        assertThat(limited).isPositive();
        assertThat(http.post("/v1/topics/t/jobs", "{\"delay\":60000}", bearer(all))
                        .status())
                .isEqualTo(201);
    }

    @Test
    void shouldTakeKeysOverWhileItRunsAndKeepThemWhenTheFileIsBroken() throws Exception {
        ObjectNode document = Json.object(Files.readAllBytes(file));
        String next = make(document, "orders", null, "produce:orders.*");
        Files.writeString(file, document.toString());
        String job = "{\"delay\":60000}";
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() ->
                        http.post("/v1/topics/orders.x/jobs", job, bearer(next)).status() == 201);
        assertThat(http.post("/v1/topics/orders.x/jobs", job, bearer(orders)).status())
                .as("both are valid")
                .isEqualTo(201);

        String good = Files.readString(file);
        Files.writeString(file, "{ broken");
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> http.get("/readyz").body().path("warnings").size() == 1);
        assertThat(http.post("/v1/topics/orders.x/jobs", job, bearer(next)).status())
                .isEqualTo(201);
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> http.get("/readyz").status() == 200);
        Files.writeString(file, good);
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> http.get("/readyz").body().path("warnings").isMissingNode());
    }

    @Test
    void shouldAnswerOnlyToLoopbackNamesWithoutKeys() throws Exception {
        try (TestRouter open = TestRouter.start()) {
            String request = "POST /v1/topics/t/jobs HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
                    + "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
            assertThat(open.raw(request.formatted("evil.example:8080"))).contains(" 403 ");
            assertThat(open.raw(request.formatted("localhost.evil.example"))).contains(" 403 ");
            assertThat(open.raw(request.formatted("LOCALHOST:8080"))).contains(" 201 ");
            assertThat(open.raw(request.formatted("[::1]:1"))).contains(" 201 ");
        }
    }
}

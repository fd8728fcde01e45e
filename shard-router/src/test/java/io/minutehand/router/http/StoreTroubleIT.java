package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.http.TestRouter.Answer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;

/** What callers are told when Redis is full, away, or does not answer: a definite no is a 503, what is not known a 504. */
class StoreTroubleIT {
    private static final String JOBS = "/v1/topics/t/jobs";

    private static TestRouter start(RedisServer redis, String uri) {
        RedisOptions options = RedisOptions.of(uri).withReplyTimeout(Duration.ofMillis(300));
        return TestRouter.start(options, jobs -> jobs.deadline(Duration.ofMillis(600)), TestRouter.settings());
    }

    @Test
    void shouldSayThatRedisIsFull() throws Exception {
        try (RedisServer redis = RedisServer.start();
                TestRouter http = start(redis, redis.uri());
                RedisCommands commands = redis.connect()) {
            assertThat(http.post(JOBS, "{\"id\":\"before\",\"delay\":60000}").status())
                    .isEqualTo(201);
            commands.call("CONFIG", "SET", "maxmemory", "1");
            Answer full = http.post(JOBS, "{\"id\":\"full\",\"delay\":60000}");
            assertThat(full.status()).as("%s", full).isEqualTo(503);
            assertThat(full.problem()).isEqualTo("store-full");
            assertThat(full.header("Retry-After")).isEqualTo("1");
            await("the router is not ready").untilAsserted(() -> {
                Answer ready = http.get("/readyz");
                assertThat(ready.status()).isEqualTo(503);
                assertThat(ready.body().path("reasons").path(0).asText()).contains("maxmemory");
            });
            assertThat(http.delete(JOBS + "/before").status())
                    .as("what ends jobs goes on")
                    .isEqualTo(200);
            commands.call("CONFIG", "SET", "maxmemory", "0");
            assertThat(http.post(JOBS, "{\"id\":\"full\",\"delay\":60000}").status())
                    .isEqualTo(201);
            await("the router is ready")
                    .until(() -> http.get("/readyz").text("status").equals("READY"));
        }
    }

    @Test
    void shouldNotBeReadyWhileRedisIsAReplica() throws Exception {
        try (RedisServer redis = RedisServer.start();
                TestRouter http = start(redis, redis.uri());
                RedisCommands commands = redis.connect()) {
            await("the router is ready")
                    .until(() -> http.get("/readyz").text("status").equals("READY"));
            commands.call("REPLICAOF", "127.0.0.1", "1");
            await("the router is not ready").until(() -> http.get("/readyz").status() == 503);
            Answer no = http.post(JOBS, "{\"id\":\"no\",\"delay\":60000}");
            assertThat(no.status()).as("%s", no).isEqualTo(503);
            assertThat(no.problem()).isEqualTo("not-stored");
            commands.call("REPLICAOF", "NO", "ONE");
            await("the router is ready")
                    .until(() -> http.get("/readyz").text("status").equals("READY"));
        }
    }

    @Test
    void shouldTellANoFromWhatIsNotKnown() throws Exception {
        try (RedisServer redis = RedisServer.start();
                LinkProxy link = LinkProxy.before(redis);
                TestRouter http = start(redis, link.uri())) {
            assertThat(http.post(JOBS, "{}").status()).isEqualTo(201);
            String job = "{\"id\":\"unknown\",\"delay\":60000,\"payload\":1}";
            link.blackHole(LinkProxy.Direction.TO_CLIENT);
            Answer unknown = http.post(JOBS, job);
            assertThat(unknown.status()).as("%s", unknown).isEqualTo(504);
            assertThat(unknown.problem()).isEqualTo("outcome-unknown");
            assertThat(unknown.text("id")).isEqualTo("unknown");
            assertThat(unknown.text("remedy")).contains("same id");
            Answer cancel = http.delete(JOBS + "/x");
            assertThat(cancel.status()).as("%s", cancel).isEqualTo(504);
            Answer read = http.get(JOBS + "/x");
            assertThat(read.status()).as("%s", read).isEqualTo(503);
            link.pass();
            link.resetAll();
            // It was stored, as the reply that was lost would have said.
            await("the router says what Redis says").untilAsserted(() -> {
                Answer again = http.post(JOBS, job);
                assertThat(again.status()).as("%s", again).isEqualTo(200);
                assertThat(again.text("outcome")).isEqualTo("EXISTS");
            });

            redis.kill();
            link.resetAll();
            await("the router says what Redis says").untilAsserted(() -> {
                Answer no = http.post(JOBS, "{\"id\":\"no\",\"delay\":60000}");
                assertThat(no.status()).as("%s", no).isEqualTo(503);
                assertThat(no.problem()).isEqualTo("not-stored");
                assertThat(no.header("Retry-After")).isNotEmpty();
            });
            Answer ready = http.get("/readyz");
            assertThat(ready.status()).isEqualTo(503);
            assertThat(ready.text("status")).isEqualTo("NOT_READY");
            assertThat(ready.body().path("reasons").path(0).asText()).contains("Redis does not answer");
            assertThat(http.get("/healthz").status()).isEqualTo(200);
        }
    }

    /** A client that waits for each answer before it sends the next line is not the one who is silent. */
    @Test
    void shouldNotEndAStreamWhoseClientWaitsForASlowRedis() throws Exception {
        Duration body = Duration.ofSeconds(1);
        try (RedisServer redis = RedisServer.start();
                LinkProxy link = LinkProxy.before(redis);
                TestRouter http = TestRouter.start(
                        RedisOptions.of(link.uri()).withReplyTimeout(Duration.ofSeconds(8)),
                        jobs -> jobs,
                        TestRouter.settings().withTimeouts(Duration.ofSeconds(30), body));
                Socket socket = http.socket()) {
            assertThat(http.post(JOBS, "{}").status()).isEqualTo(201);
            link.delay(Duration.ZERO, body.plusMillis(600));
            String line = "{\"topic\":\"t\",\"id\":\"s\"}\n";
            socket.getOutputStream()
                    .write(("POST /v1/jobs:batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                                    + "Transfer-Encoding: chunked\r\n\r\n" + Integer.toHexString(line.length()) + "\r\n"
                                    + line + "\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(TestRouter.readUntil(socket.getInputStream(), "\"id\":\"s\""))
                    .doesNotContain("408");
        }
    }

    private static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(Duration.ofSeconds(30));
    }
}

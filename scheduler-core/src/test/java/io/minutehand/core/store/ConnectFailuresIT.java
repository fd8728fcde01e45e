package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.minutehand.core.SingleServer;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisReplyException;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisTls;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Who cannot connect is told what was tried, how long, and where to look; never the password. */
@Beside
@SingleServer("addresses, users and passwords of one server")
class ConnectFailuresIT {
    private static final String SECRET = "sesame-4711";

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void shouldAskWhetherRedisRunsWhenNobodyListens() throws IOException {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = taken.getLocalPort();
        }

        assertThat(failure("redis://:" + SECRET + "@127.0.0.1:" + port))
                .contains("cannot connect to redis://127.0.0.1:" + port, "refused", "check that Redis is running")
                .doesNotContain("password");
    }

    @Test
    void shouldAskForFirewallAndTlsWhenNobodyAnswers() throws IOException {
        // The system accepts connections, those of repeated attempts too, and nobody ever reads from them.
        try (ServerSocket mute = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
            assertThat(failure("redis://:" + SECRET + "@127.0.0.1:" + mute.getLocalPort()))
                    .containsPattern("tried for [1-9][0-9.]* s")
                    .contains("no reply came in time", "firewall", "this URI is without")
                    .doesNotContain("null", "password");
        }
    }

    @Test
    void shouldGoOnWhenTheFirstReplyComesLate() {
        RedisOptions options = RedisOptions.of(server.uri()).withReplyTimeout(Duration.ofMillis(200));
        server.pause();
        AtomicBoolean resuming = new AtomicBoolean();
        CompletableFuture<Void> resumed = CompletableFuture.runAsync(
                () -> {
                    resuming.set(true);
                    server.resume();
                },
                CompletableFuture.delayedExecutor(1_500, TimeUnit.MILLISECONDS));
        try (StoreConnection connection = StoreConnection.open(options)) {
            assertThat(connection.clientId()).isNotEmpty();
            assertThat(resuming).as("not before it could be").isTrue();
        } finally {
            resumed.join();
        }
    }

    @Test
    void shouldWaitForAServerThatLoadsItsData() {
        // Half a millisecond a key, and a look at connections every few keys, as a server with millions would.
        RedisSettings slow = RedisSettings.defaults()
                .withAppendOnly()
                .with("key-load-delay 500", "loading-process-events-interval-bytes 1024");
        try (RedisServer loading = RedisServer.start(slow)) {
            try (RedisCommands redis = loading.connect()) {
                redis.call("EVAL", "for i = 1, 3000 do redis.call('SET', 'key' .. i, i) end", 0);
                redis.call("BGREWRITEAOF");
                await().until(() -> "0".equals(redis.info("persistence").get("aof_rewrite_in_progress"))
                        && "0".equals(redis.info("persistence").get("aof_rewrite_scheduled")));
            }
            CompletableFuture<Void> restarted = CompletableFuture.runAsync(loading::restart);
            await().until(() -> saysLoading(loading));
            try (StoreConnection connection = StoreConnection.open(RedisOptions.of(loading.uri()))) {
                assertThat(connection.clientId()).isNotEmpty();
            } finally {
                restarted.join();
            }
        }
    }

    private static boolean saysLoading(RedisServer server) {
        try (RedisCommands redis = server.connect()) {
            redis.call("PING");
            return false;
        } catch (RedisReplyException e) {
            return "LOADING".equals(e.code());
        } catch (RuntimeException notYetUp) {
            return false;
        }
    }

    @Test
    void shouldAskForALoginWhereOneIsWanted() {
        assertThat(failure("redis://127.0.0.1:" + server.port()))
                .contains("NOAUTH", "required; ", "give user and password in the URI")
                .doesNotContain("firewall");
    }

    @Test
    void shouldPointAtUserAndPasswordWhenTheLoginIsWrong() {
        assertThat(failure("redis://nobody:" + SECRET + "@127.0.0.1:" + server.port()))
                .contains("WRONGPASS", "check user and password")
                .doesNotContain("firewall", "TLS");
    }

    @Test
    void shouldTellASingleServerFromAClusterAndASentinel() {
        String login = "://:" + server.password() + "@127.0.0.1:" + server.port();

        assertThat(failure("redis+cluster" + login)).contains("this is a single server");
        assertThat(failure("redis+sentinel" + login + "/main")).contains("this is no Sentinel");
    }

    @Test
    void shouldPointAtTheAclWhenARightIsMissing() {
        try (RedisCommands redis = server.connect()) {
            redis.call("ACL", "SETUSER", "noscripts", "on", ">" + SECRET, "~mh:*", "&mh:*", "+@all", "-eval");
            redis.call("ACL", "SETUSER", "nokeys", "on", ">" + SECRET, "~other:*", "&mh:*", "+@all");
        }

        assertThat(failure("redis://noscripts:" + SECRET + "@127.0.0.1:" + server.port()))
                .contains("NOPERM", "eval", "the user's ACL lacks");
        assertThat(failure("redis://nokeys:" + SECRET + "@127.0.0.1:" + server.port()))
                .contains("NOPERM", "the user's ACL lacks");
    }

    @Test
    void shouldPointAtTlsWhenOnlyOneSideSpeaksIt() {
        assertThat(failure("rediss://:" + SECRET + "@127.0.0.1:" + server.port()))
                .as("TLS to a server without")
                .contains("TLS");
        assumeTrue(RedisTls.supported(), "this redis-server is built without TLS");
        try (RedisTls tls = RedisTls.start(RedisBinary.locate(), "~* +@all")) {
            assertThat(failure("redis://:" + SECRET + "@127.0.0.1:" + tls.port()))
                    .as("without TLS to a server that wants it")
                    .contains("TLS");
            assertThat(failure(tls.uri()))
                    .as("a certificate that nobody here trusts")
                    .contains("certificate", "withTrustStore");
        }
    }

    /** The message, of which no stack trace may show a password either. */
    private static String failure(String uri) {
        RedisOptions options = RedisOptions.of(uri);
        StoreException refused = catchThrowableOfType(
                StoreException.class, () -> StoreConnection.open(options).close());
        assertThat(refused).isNotNull();
        assertThat(refused.kind()).isEqualTo(StoreException.Kind.REFUSED);
        StringWriter trace = new StringWriter();
        refused.printStackTrace(new PrintWriter(trace));
        if (options.password() != null) {
            assertThat(trace.toString()).doesNotContain(options.password());
        }
        return String.valueOf(refused.getMessage());
    }
}

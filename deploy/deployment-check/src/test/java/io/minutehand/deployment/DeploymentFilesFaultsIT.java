package io.minutehand.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.minutehand.core.telemetry.PrometheusMetrics;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisReplyException;
import io.minutehand.source.FreePorts;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The files at work, as far as that goes without containers: Redis with redis.conf and the users that make-users makes, a worker and a router with the
 * command lines of image and Compose file (addresses, ports and paths changed for those of this machine), the health check of the image, and what the services
 * show to Prometheus.
 */
@Tag("faults")
class DeploymentFilesFaultsIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String TOPIC = "order.close.timeout";
    private static final String HOST = "127.0.0.1";

    private final DeployFolder deploy = DeployFolder.real();
    private final HttpClient http = HttpClient.newHttpClient();
    private final int redisPort = FreePorts.next();
    private final int apiPort = FreePorts.next();
    private final int routerAdminPort = FreePorts.next();
    private final int workerAdminPort = FreePorts.next();
    private PrivateDirectory home;
    private Path secrets;
    private HttpServer receiver;

    @BeforeEach
    void open() throws Exception {
        home = PrivateDirectory.create("deployment");
        secrets = home.path().resolve("secrets");
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        receiver.createContext("/", exchange -> {
            String id = exchange.getRequestHeaders().getFirst("webhook-id");
            exchange.getRequestBody().readAllBytes();
            boolean isFirst = "1".equals(exchange.getRequestHeaders().getFirst("minutehand-attempt"));
            int status = id.endsWith("/dead") ? 410 : id.endsWith("/again") && isFirst ? 500 : 204;
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        receiver.start();
    }

    @AfterEach
    void close() {
        receiver.stop(0);
        home.close();
    }

    @Test
    void shouldRunAsTheFilesSay() throws Exception {
        run(deploy.root().resolve("redis/make-users").toString(), secrets.toString(), HOST + ":" + redisPort);
        startRedis();
        String key = makeKey();
        Files.writeString(secrets.resolve("webhook-secrets"), command("worker", "new-secret"));

        Process worker = start("worker", workerAdminPort, List.of("--webhook-allow=" + target()));
        // The worker declares the topic, and a router looks at once what topics there are, then every ten seconds.
        awaitSaid(worker, "worker", "delivers jobs of " + TOPIC);
        Process router = start("router-1", routerAdminPort, List.of());
        awaitSaid(router, "router-1", "listens on");

        requireHealthChecks();
        for (String id : List.of("done", "again", "dead")) {
            assertThat(schedule(key, id)).as("job %s", id).isEqualTo(201);
        }
        await("each job has ended")
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(scrape(workerAdminPort))
                        .contains("minutehand_done_total{topic=\"" + TOPIC + "\"} 2.0")
                        .contains("minutehand_dead_total{topic=\"" + TOPIC + "\"} 1.0"));
        requireMetrics();
        for (Process process : List.of(router, worker)) {
            process.destroy();
        }
        for (Process process : List.of(router, worker)) {
            assertThat(process.waitFor(StopTimes.longestStopS(), TimeUnit.SECONDS))
                    .as("ends after TERM")
                    .isTrue();
            assertThat(process.exitValue()).as("exit status after TERM").isEqualTo(143);
        }
        requireRights();
    }

    private void startRedis() throws IOException {
        Path data = Files.createDirectories(home.path().resolve("data"));
        home.start(new ProcessBuilder(
                        RedisBinary.locate().executable().toString(),
                        deploy.root().resolve(RedisCheck.CONFIG).toString(),
                        "--port",
                        Integer.toString(redisPort),
                        "--bind",
                        HOST,
                        "--dir",
                        data.toString(),
                        "--aclfile",
                        secrets.resolve("users.acl").toString())
                .redirectErrorStream(true)
                .redirectOutput(home.path().resolve("redis.out").toFile()));
        await("Redis answers a ping of the default user, who may do nothing else")
                .atMost(LIMIT)
                .ignoreExceptions()
                .until(() -> {
                    try (RedisCommands redis = RedisCommands.connect("redis://" + HOST + ":" + redisPort)) {
                        return "PONG".equals(redis.text("PING"));
                    }
                });
    }

    /** A command of a service that ends: what it prints. */
    private static String command(String service, String... arguments) {
        StringWriter out = new StringWriter();
        int status =
                ServiceCall.command(service).setOut(new PrintWriter(out, true)).execute(arguments);
        assertThat(status).as("%s %s", service, List.of(arguments)).isZero();
        return out.toString();
    }

    private String makeKey() {
        return command(
                        "router",
                        "new-key",
                        "--keys",
                        secrets.resolve("keys.json").toString(),
                        "--id",
                        "orders",
                        "--scope",
                        "produce:order.*,read:order.*")
                .strip();
    }

    private String target() {
        return HOST + ":" + receiver.getAddress().getPort();
    }

    /** Starts a service as image and Compose file say, in the words of this machine. */
    private Process start(String service, int adminPort, List<String> more) throws IOException {
        Path settings = home.path().resolve("worker.properties");
        Files.writeString(
                settings,
                deploy.text("compose/worker.properties").replace("https://shop.example.com", "http://" + target()));
        List<String> words = new ArrayList<>(DockerfileCheck.entrypoint(deploy));
        // Started twice beside other tests: it need not become fast.
        words.add(1, "-XX:TieredStopAtLevel=1");
        words.addAll(ComposeCheck.command(deploy, service));
        words.addAll(more);
        words.set(0, Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.replaceAll(word -> word.replace(
                        "/opt/minutehand/minutehand.jar",
                        Objects.requireNonNull(
                                System.getProperty("minutehand.jar"), "minutehand.jar is set by mvn verify"))
                .replace("/run/secrets", secrets.toString())
                .replace("/etc/minutehand/worker.properties", settings.toString())
                .replace("0.0.0.0", HOST)
                .replace("--port=8080", "--port=" + apiPort)
                .replace("--admin-port=9090", "--admin-port=" + adminPort));
        return home.start(new ProcessBuilder(words)
                .redirectErrorStream(true)
                .redirectOutput(home.path().resolve(service + ".out").toFile()));
    }

    private void awaitSaid(Process process, String service, String text) {
        await(service + " says " + text)
                .atMost(LIMIT)
                .failFast(() -> assertThat(process.isAlive())
                        .as("alive; it said: %s", said(service))
                        .isTrue())
                .until(() -> said(service).contains(text));
    }

    private String said(String service) {
        try {
            return Files.readString(home.path().resolve(service + ".out"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int run(String... command) throws Exception {
        Process process = home.start(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(home.path().resolve("run.out").toFile()));
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("%s ends", command[0])
                .isTrue();
        return process.exitValue();
    }

    private void requireHealthChecks() throws Exception {
        String healthy = deploy.root().resolve("docker/healthy").toString();
        assertThat(run(healthy, Integer.toString(routerAdminPort)))
                .as("health of the router")
                .isZero();
        assertThat(run(healthy, Integer.toString(workerAdminPort)))
                .as("health of the worker")
                .isZero();
        assertThat(run(healthy, Integer.toString(FreePorts.next())))
                .as("health where nobody listens")
                .isNotZero();
        assertThat(run(healthy, Integer.toString(apiPort)))
                .as("the API's port has a /healthz, too")
                .isZero();
        assertThat(run(healthy, Integer.toString(receiver.getAddress().getPort())))
                .as("health of a server that answers another status")
                .isNotZero();
    }

    private int schedule(String key, String id) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://" + HOST + ":" + apiPort + "/v1/topics/" + TOPIC + "/jobs"))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"id\": \"" + id + "\", \"delay\": \"PT0.1S\", \"payload\": 1}"))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private String scrape(int port) throws IOException, InterruptedException {
        return http.send(
                        HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + port + "/metrics"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** What can be shown, what metrics.txt says, and what the files read: each of the latter is in the former. */
    private void requireMetrics() throws Exception {
        Set<String> shown = new TreeSet<>(MetricNames.ofScrape(scrape(routerAdminPort)));
        shown.addAll(MetricNames.ofScrape(scrape(workerAdminPort)));
        shown.addAll(MetricNames.ofScrape(afterEachEvent()));
        assertThat(shown).as("what metrics.txt lists").containsAll(MetricNames.known());
        List<String> expressions =
                new ArrayList<>(MonitoringCheck.alertExpressions(deploy).values());
        expressions.addAll(MonitoringCheck.panelExpressions(deploy).values());
        for (String expression : expressions) {
            Set<String> read = MetricNames.in(expression);
            read.removeAll(MetricNames.OF_PROMETHEUS);
            assertThat(shown).as(expression).containsAll(read);
        }
    }

    /** The same registry after each event has happened once: some are rare, and a ledger is looked at every ten seconds only. */
    private static String afterEachEvent() {
        try (PrometheusMetrics metrics = new PrometheusMetrics()) {
            for (Telemetry.Counter counter : Telemetry.Counter.values()) {
                metrics.telemetry().count(counter, TOPIC, 1);
            }
            for (Telemetry.Gauge gauge : Telemetry.Gauge.values()) {
                metrics.telemetry().gauge(gauge, TOPIC, 0);
            }
            return metrics.scrape();
        }
    }

    /** The users of users.acl may do what they must, and no more. */
    private void requireRights() throws IOException {
        String uri =
                Files.readString(secrets.resolve("redis.properties")).strip().replace("--redis=", "");
        try (RedisCommands redis = RedisCommands.connect(uri)) {
            assertThatExceptionOfType(RedisReplyException.class)
                    .isThrownBy(() -> redis.call("GET", "of-somebody-else"))
                    .withMessageContaining("NOPERM");
        }
        String password = Files.readString(secrets.resolve("operator-password")).strip();
        try (RedisCommands redis =
                RedisCommands.connect("redis://operator:" + password + "@" + HOST + ":" + redisPort)) {
            assertThat(redis.texts("CONFIG", "GET", "maxmemory-policy")).contains("noeviction");
        }
    }
}

package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.redis.RedisServer;
import io.minutehand.source.FreePorts;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the README tells users to type to schedule jobs over HTTP and to take them as webhooks, typed: in its words, but for the ports. */
class ServicesReadmeIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Less than a service takes that gives up closing after 40 s, more than one that closes. */
    private static final Duration STOP = Duration.ofSeconds(20);

    private final RedisServer redis = RedisServer.start();
    private final String routerPort = Integer.toString(FreePorts.next());
    private final String receiverPort = Integer.toString(FreePorts.next());
    private final String adminPort = Integer.toString(FreePorts.next());
    private final String readme = readme();
    private PrivateDirectory home;

    @BeforeEach
    void open() {
        home = PrivateDirectory.create("readme");
    }

    @AfterEach
    void close() {
        home.close();
        redis.close();
    }

    private static String readme() {
        try {
            return Files.readString(Path.of("..", "README.md"));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The first block of code in a language after a heading, which has a word in it. */
    private String block(String heading, String language, String word) {
        Matcher blocks = Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(readme);
        int from = readme.indexOf("\n### " + heading + "\n");
        assertThat(from).as("README has a part \"%s\"", heading).isPositive();
        for (boolean found = blocks.find(from); found; found = blocks.find()) {
            if (blocks.group(1).contains(word)) {
                return blocks.group(1)
                        .replace("redis://localhost:6379", "'" + redis.uri() + "'")
                        .replace("8080", routerPort)
                        .replace("9000", receiverPort)
                        .replace("9090", adminPort);
            }
        }
        throw new AssertionError("no block of " + language + " with " + word + " below " + heading);
    }

    /** Commands of a block; one that goes on after a backslash is one. */
    private static List<String> commands(String block) {
        return Arrays.stream(block.replace("\\\n", " ").split("\n"))
                .filter(line -> !line.isBlank())
                .toList();
    }

    private Process shell(String command, String key, String output) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:TieredStopAtLevel=1 -jar "
                + Objects.requireNonNull(System.getProperty("minutehand.jar"), "minutehand.jar is set by mvn verify");
        // exec: signals are for the program, not for a shell around it.
        String typed = command.replaceFirst(
                        "^(\\S+=\\S+ )?deploy/minutehand", "$1" + Matcher.quoteReplacement("exec " + java))
                .replaceFirst("^node", "exec node");
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", typed)
                .redirectErrorStream(true)
                .redirectOutput(home.path().resolve(output).toFile());
        builder.environment().put("KEY", key);
        return home.start(builder);
    }

    private String said(String output) {
        try {
            return Files.readString(home.path().resolve(output), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private String run(String command, String key) throws Exception {
        Process process = shell(command, key, "one.out");
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as(command)
                .isTrue();
        assertThat(process.exitValue()).as("%s: %s", command, said("one.out")).isZero();
        return said("one.out");
    }

    private void awaitSaid(Process process, String output, String text) {
        await(output + " says " + text)
                .atMost(LIMIT)
                .failFast(() -> assertThat(process.isAlive())
                        .as("alive; it said: %s", said(output))
                        .isTrue())
                .until(() -> said(output).contains(text));
    }

    private static boolean isThere(String tool) throws Exception {
        return new ProcessBuilder("bash", "-c", "command -v " + tool)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    private static void stop(Process process) throws Exception {
        process.destroy();
        assertThat(process.waitFor(STOP.toSeconds(), TimeUnit.SECONDS))
                .as("ends before it gives up closing")
                .isTrue();
        assertThat(process.exitValue()).as("exit status after SIGTERM").isEqualTo(143);
    }

    @Test
    void shouldWorkAsTheReadmeSays() throws Exception {
        assumeTrue(
                System.getenv("CI") != null || isThere("node"),
                "node is not on the PATH; CI fails without it, other machines go without this test");
        List<String> router = commands(block("Over HTTP", "sh", "new-key"));
        String key = run(router.get(0), "").strip();
        Process http = shell(router.get(1), key, "router.out");
        awaitSaid(http, "router.out", "listens on");

        List<String> curl = commands(block("Over HTTP", "sh", "curl"));
        assertThat(run(curl.get(0), key)).contains("\"outcome\":\"CREATED\"", "close_order:10086");
        assertThat(run(curl.get(1), key)).contains("\"outcome\":\"CANCELLED\"");

        List<String> worker = commands(block("Webhooks", "sh", "new-secret"));
        run(worker.get(0), "");
        Process node = shell(worker.get(1), "", "worker.out");
        awaitSaid(node, "worker.out", "delivers jobs of order.close.timeout");

        Files.writeString(home.path().resolve("orders.mjs"), block("Webhooks", "js", "createServer"));
        Process script = shell("node orders.mjs", key, "orders.out");
        awaitSaid(script, "orders.out", "due:");

        assertThat(said("orders.out").lines())
                .containsExactly(
                        "201 CREATED",
                        "201 CREATED",
                        "200 CANCELLED",
                        "due: order.close.timeout/close_order:1 {\"id\":1}");
        List<String> watch = commands(block("Watching services", "sh", "curl"));
        assertThat(run(watch.get(0), "")).isEqualTo("{\"status\":\"READY\",\"reasons\":[]}\n");
        assertThat(run(watch.get(1), ""))
                .contains(
                        "minutehand_done_total{topic=\"order.close.timeout\"} 1.0\n",
                        "minutehand_lateness_seconds_count{topic=\"order.close.timeout\"} 1\n",
                        "minutehand_node_ready 1.0\n");
        String unsigned = "curl -sS -o /dev/null -w '%{http_code}' -X POST localhost:" + receiverPort + "/ -d '{}'"
                + " -H 'webhook-id: a' -H 'webhook-timestamp: 1' -H 'webhook-signature: v1,AAAA'";
        assertThat(run(unsigned, "")).isEqualTo("401");
        stop(node);
        stop(http);
    }

    @Test
    void shouldLogJsonWhenAsked() throws Exception {
        Process http = shell(
                "MINUTEHAND_LOG=json deploy/minutehand router --insecure-dev --port " + routerPort + " --redis '"
                        + redis.uri() + "'",
                "",
                "json.out");
        awaitSaid(http, "json.out", "listens on");
        stop(http);
        List<String> logged = said("json.out")
                .lines()
                .filter(line -> !line.startsWith("minutehand router listens"))
                .toList();
        assertThat(logged).isNotEmpty();
        for (String line : logged) {
            JsonNode event = JSON.readTree(line);
            assertThat(event.get("level").asText()).as(line).isIn("INFO", "WARN");
            assertThat(event.get("formattedMessage").asText()).as(line).isNotEmpty();
            assertThat(event.get("timestamp").asLong()).as(line).isPositive();
        }
        Process refused = shell("MINUTEHAND_LOG=yaml deploy/minutehand --version", "", "yaml.out");
        assertThat(refused.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(refused.exitValue()).isEqualTo(2);
        assertThat(said("yaml.out")).isEqualTo("MINUTEHAND_LOG=yaml, allowed are text and json\n");
    }
}

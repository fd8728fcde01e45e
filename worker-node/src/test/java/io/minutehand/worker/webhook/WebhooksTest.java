package io.minutehand.worker.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.worker.Again;
import io.minutehand.worker.Dead;
import io.minutehand.worker.JobHandler;
import io.minutehand.worker.webhook.Receiver.Got;
import io.minutehand.worker.webhook.Receiver.Reply;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebhooksTest {
    private static final Secret OLD = Secret.of("whsec_" + Base64.getEncoder().encodeToString(new byte[24]));
    private static final Secret NEW = Secret.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    private static final byte[] PAYLOAD = "{\"order\":7}".getBytes(StandardCharsets.UTF_8);

    private final Receiver receiver = new Receiver();
    private Webhooks webhooks;

    @BeforeEach
    void open() {
        webhooks = Webhooks.open(settings());
    }

    @AfterEach
    void close() {
        webhooks.close();
        receiver.close();
    }

    private WebhookSettings settings() {
        return WebhookSettings.signedBy(NEW)
                .withAllowed(Set.of(receiver.at()))
                .withTimeouts(Duration.ofSeconds(10), Duration.ofSeconds(50));
    }

    private void deliver(String target, FakeJob job) throws Exception {
        webhooks.to(receiver.url(target)).handle(PAYLOAD, job);
    }

    @Test
    void shouldPostThePayloadSignedByEachSecret() throws Exception {
        webhooks.close();
        webhooks = Webhooks.open(settings().withSecrets(List.of(NEW, OLD)));
        Map<String, String> headers = Map.of(
                "Content-Type", "text/plain",
                "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "tracestate", "a=b",
                "x-other", "stays");

        deliver("/hook?a=b", new FakeJob("job:1", headers, Duration.ofMinutes(1)));

        Got got = receiver.got().get(0);
        assertThat(got.method() + " " + got.target()).isEqualTo("POST /hook?a=b");
        assertThat(got.body()).isEqualTo(PAYLOAD);
        assertThat(got.header("webhook-id")).isEqualTo("orders/job:1");
        long timestampS = FakeJob.STARTED.getEpochSecond();
        assertThat(got.header("webhook-timestamp")).isEqualTo(Long.toString(timestampS));
        assertThat(got.header("webhook-signature"))
                .isEqualTo(NEW.sign("orders/job:1", timestampS, PAYLOAD) + " "
                        + OLD.sign("orders/job:1", timestampS, PAYLOAD));
        assertThat(got.header("minutehand-topic")).isEqualTo("orders");
        assertThat(got.header("minutehand-job")).isEqualTo("job:1");
        assertThat(got.header("minutehand-attempt")).isEqualTo("2");
        assertThat(got.header("minutehand-delivery")).isEqualTo("1");
        assertThat(got.header("minutehand-due")).isEqualTo("2026-01-31T08:00:00.250Z");
        assertThat(got.header("content-type")).isEqualTo("text/plain");
        assertThat(got.header("traceparent")).isEqualTo(headers.get("traceparent"));
        assertThat(got.header("tracestate")).isEqualTo("a=b");
        assertThat(got.header("x-other")).isNull();
        assertThat(got.header("host")).isEqualTo(receiver.at().toString());
    }

    @Test
    void shouldNotLetAJobWriteHeaders() throws Exception {
        Map<String, String> headers =
                Map.of("content-type", "a/b\r\nx-evil: 1", "traceparent", "t\r\nx-evil: 1", "tracestate", "b=c");
        deliver("/", new FakeJob("a", headers, Duration.ofMinutes(1)));
        assertThat(receiver.got().get(0).header("content-type")).isEqualTo("application/json");
        assertThat(receiver.got().get(0).headers()).doesNotContainKeys("X-evil", "Traceparent", "Tracestate");
    }

    /** Found at the first delivery, it would cost every job its attempts. */
    @Test
    void shouldRefuseAFileOfCertificatesThatHoldsNone(@TempDir Path directory) throws Exception {
        Path none = Files.writeString(directory.resolve("none.pem"), "no certificate\n");
        Path cut = Files.writeString(
                directory.resolve("cut.pem"), "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
        for (Path file : List.of(directory.resolve("missing.pem"), directory, none, cut)) {
            assertThatThrownBy(() -> Webhooks.open(settings().withTrust(file)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("trust=" + file);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202, 204, 299})
    void shouldTakeEverySuccessForAnAck(int status) {
        receiver.answers(Reply.of(status));
        assertThatCode(() -> deliver("/", FakeJob.of("a"))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 404, 409, 429, 500, 503, 504})
    void shouldTakeEverythingElseForAFailedAttempt(int status) {
        receiver.answers(Reply.of(status));
        assertThatThrownBy(() -> deliver("/path-with-a-secret", FakeJob.of("a")))
                .isInstanceOf(DeliveryException.class)
                .hasMessageContaining("answered " + status)
                .hasMessageNotContaining("secret");
    }

    @Test
    void shouldMakeADeadLetterOfWhatNobodyWantsAnyMore() {
        receiver.answers(Reply.of(410));
        assertThatThrownBy(() -> deliver("/", FakeJob.of("a")))
                .isInstanceOf(Dead.class)
                .hasMessageContaining("gone");
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "Sat, 31 Jan 2026 08:00:07 GMT"})
    void shouldComeAgainWhenTheReceiverSays(String after) {
        for (int status : new int[] {429, 503}) {
            receiver.answers(Reply.of(status).with("Retry-After", after));
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a")))
                    .isInstanceOf(Again.class)
                    .hasMessageMatching("again after PT[67](\\.\\d+)?S");
        }
    }

    @Test
    void shouldBoundHowLongAReceiverMayPutItOff() {
        receiver.answers(Reply.of(503).with("Retry-After", "999999999"));
        assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).hasMessage("again after PT24H");
        receiver.answers(Reply.of(503).with("Retry-After", "Fri, 31 Jan 2025 08:00:07 GMT"));
        assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).hasMessage("again after PT1S");
        receiver.answers(Reply.of(429).with("Retry-After", "0"));
        assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).hasMessage("again after PT1S");
        receiver.answers(Reply.of(503).with("Retry-After", "soon"));
        assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).isInstanceOf(DeliveryException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void shouldNotFollowARedirect(int status) {
        try (Receiver canary = new Receiver()) {
            receiver.answers(Reply.of(status).with("Location", canary.url("/")));
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a")))
                    .isInstanceOf(DeliveryException.class)
                    .hasMessageContaining("answered " + status);
            assertThat(canary.got()).isEmpty();
        }
    }

    @Test
    void shouldConnectToTheAddressThatItHasChecked() {
        try (Receiver canary = new Receiver()) {
            AtomicInteger asked = new AtomicInteger();
            // The name is public whenever it is checked, and is not when anybody asks once more.
            try (Webhooks rebound = Webhooks.open(
                    WebhookSettings.signedBy(NEW).withTimeouts(Duration.ofMillis(200), Duration.ofMillis(500)),
                    host -> new InetAddress[] {
                        InetAddress.getByName(asked.getAndIncrement() == 0 ? "192.0.43.7" : "127.0.0.1")
                    })) {
                JobHandler<byte[]> handler = rebound.to("https://rebound.example.com/");
                assertThatThrownBy(() -> handler.handle(PAYLOAD, FakeJob.of("a")))
                        .isInstanceOf(DeliveryException.class);
                assertThat(asked).hasValue(1);
                assertThatThrownBy(() -> handler.handle(PAYLOAD, FakeJob.of("a")))
                        .hasMessageContaining("not all of its addresses are public");
            }
            assertThat(canary.got()).isEmpty();
        }
    }

    @Test
    void shouldGiveUpWhoDoesNotAnswer() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        receiver.answers(request -> {
            end.await();
            return Reply.of(204);
        });
        assertThatThrownBy(() -> deliver("/", new FakeJob("a", Map.of(), Duration.ofMillis(100))))
                .isInstanceOf(DeliveryException.class)
                .hasMessageContaining("no answer within 100 ms");
        end.countDown();
        receiver.answers(Reply.of(204));
        deliver("/", FakeJob.of("b"));
    }

    @Test
    void shouldNotReadEndlessAnswers() throws Exception {
        receiver.answers(new Reply(200, Map.of(), new byte[8 * 1024 * 1024]));
        deliver("/", FakeJob.of("a"));
        receiver.answers(Reply.of(204));
        deliver("/", FakeJob.of("b"));
    }

    @Test
    void shouldSayThatNobodyListens() {
        String url = receiver.url("/");
        receiver.close();
        assertThatThrownBy(() -> webhooks.to(url).handle(PAYLOAD, FakeJob.of("a")))
                .isInstanceOf(DeliveryException.class)
                .hasMessageContaining("could not be sent");
    }

    @Test
    void shouldLeaveAReceiverAloneThatFails() {
        receiver.answers(Reply.of(500));
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).isInstanceOf(DeliveryException.class);
        }
        for (int i = 0; i < 100; i++) {
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a")))
                    .isInstanceOf(Again.class)
                    .hasMessageMatching("again after PT([5-9]|10)(\\.\\d+)?S");
        }
        assertThat(receiver.got()).hasSize(10);
    }

    @Test
    void shouldLeaveANameAloneThatCannotBeResolved() {
        webhooks.close();
        webhooks = Webhooks.open(settings(), host -> {
            throw new UnknownHostException(host);
        });
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a")))
                    .isInstanceOf(DeliveryException.class)
                    .hasMessageContaining("no address");
        }
        assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).isInstanceOf(Again.class);
    }

    @Test
    void shouldLeaveAReceiverAloneThatSaysItIsNotThere() {
        receiver.answers(Reply.of(503).with("Retry-After", "1"));
        for (int i = 0; i < 50; i++) {
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).isInstanceOf(Again.class);
        }
        assertThat(receiver.got()).hasSize(10);
    }

    @Test
    void shouldNotTakeARefusalOfAJobForADownReceiver() {
        receiver.answers(Reply.of(404));
        for (int i = 0; i < 50; i++) {
            assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).isInstanceOf(DeliveryException.class);
        }
        assertThat(receiver.got()).hasSize(50);
    }

    @Test
    void shouldBoundTheDeliveriesOfAHost() throws Exception {
        webhooks.close();
        webhooks = Webhooks.open(settings().withPerHost(2));
        CountDownLatch end = new CountDownLatch(1);
        receiver.answers(request -> {
            end.await();
            return Reply.of(204);
        });
        List<Thread> stuck = List.of(inBackground(), inBackground());
        org.awaitility.Awaitility.await("both are under way")
                .until(() -> receiver.got().size() == 2);

        assertThatThrownBy(() -> deliver("/", FakeJob.of("a"))).isInstanceOf(Again.class);
        try (Receiver other = new Receiver()) {
            webhooks.close();
            webhooks = Webhooks.open(settings().withPerHost(2).withAllowed(Set.of(receiver.at(), other.at())));
            webhooks.to(other.url("/")).handle(PAYLOAD, FakeJob.of("b"));
        }
        end.countDown();
        for (Thread thread : stuck) {
            thread.join();
        }
    }

    private Thread inBackground() {
        Thread thread = new Thread(() -> {
            try {
                deliver("/", FakeJob.of("stuck"));
            } catch (Exception ended) {
                // The client was closed meanwhile.
            }
        });
        thread.start();
        return thread;
    }

    @Test
    void shouldRefuseSettingsThatMakeNoSense() {
        WebhookSettings good = settings();
        assertThatThrownBy(() -> good.withSecrets(List.of())).hasMessage("secrets=0, allowed are 1 to 4");
        assertThatThrownBy(() -> good.withPerHost(0)).hasMessageContaining("perHost=0");
        assertThatThrownBy(() -> good.withTimeouts(Duration.ZERO, Duration.ofSeconds(1)))
                .hasMessageContaining("connectTimeout=PT0S");
        assertThatThrownBy(() -> good.withTimeouts(Duration.ofSeconds(1), Duration.ofHours(1)))
                .hasMessageContaining("timeout=PT1H");
        assertThatThrownBy(() -> good.withTimeouts(Duration.ZERO, Duration.ZERO))
                .hasMessageStartingWith("timeout=PT0S");
    }
}

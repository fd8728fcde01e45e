package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.worker.webhook.Receiver;
import io.minutehand.worker.webhook.Receiver.Got;
import io.minutehand.worker.webhook.Receiver.Reply;
import io.minutehand.worker.webhook.Secret;
import io.minutehand.worker.webhook.WebhookSettings;
import io.minutehand.worker.webhook.Webhooks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of jobs that a node delivers to receivers. */
class WebhooksIT {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final TopicSettings SETTINGS =
            TopicSettings.defaults().withShards(2).withRetry(RetryPolicy.fixed(Duration.ofMillis(100), 2));

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Receiver receiver = new Receiver();
    private final Receiver other = new Receiver();
    private final Webhooks webhooks =
            Webhooks.open(WebhookSettings.signedBy(Secret.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
                    .withAllowed(Set.of(receiver.at(), other.at()))
                    // No delivery is given up, however slow the machine.
                    .withTimeouts(Duration.ofSeconds(2), Duration.ofMinutes(2))
                    .withPerHost(8));
    private final Jobs orders = new Jobs(redis, "orders", SETTINGS);
    private final Jobs others = new Jobs(redis, "others", SETTINGS);

    @AfterEach
    void close() {
        workers.close();
        webhooks.close();
        orders.close();
        others.close();
        receiver.close();
        other.close();
    }

    private void start() {
        workers.start(
                "n0",
                builder -> builder.handle("orders", webhooks.to(receiver.url("/orders")))
                        .handle("others", webhooks.to(other.url("/others"))));
    }

    private static void schedule(Jobs jobs, int count) {
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job("job-" + i, jobs.nowMs() + i, "{\"n\":" + i + "}"));
        }
        jobs.scheduleAll(batch);
    }

    private static List<String> attempts(Receiver of, String id) {
        return of.got().stream()
                .filter(got -> got.header("minutehand-job").equals(id))
                .map(got -> got.header("minutehand-attempt"))
                .toList();
    }

    @Test
    void shouldDeliverEachJobOnce() {
        start();
        schedule(orders, 200);
        await("all done").atMost(LONG).until(() -> orders.counter("done") == 200);

        assertThat(receiver.got().stream().map(got -> got.header("webhook-id")))
                .doesNotHaveDuplicates()
                .hasSize(200);
        assertThat(receiver.got()).allMatch(got -> got.target().equals("/orders"));
        assertThat(other.got()).isEmpty();
        assertThat(orders.missing()).isZero();
    }

    @Test
    void shouldTryAgainWhatWasNotTakenAndBuryWhatNobodyWants() {
        receiver.answers(got -> {
            boolean first = got.header("minutehand-attempt").equals("1");
            return switch (got.header("minutehand-job")) {
                case "job-0" -> Reply.of(first ? 500 : 204);
                case "job-1" -> Reply.of(404);
                case "job-2" -> Reply.of(410);
                case "job-3" ->
                    attempts(receiver, "job-3").size() == 1 ? Reply.of(503).with("Retry-After", "1") : Reply.of(204);
                default -> Reply.of(204);
            };
        });
        start();
        schedule(orders, 5);
        await("all ended").atMost(LONG).until(() -> orders.ended() == 5);

        assertThat(attempts(receiver, "job-0")).as("failed once").containsExactly("1", "2");
        assertThat(attempts(receiver, "job-1")).as("failed until given up").containsExactly("1", "2", "3");
        assertThat(attempts(receiver, "job-2")).as("gone").containsExactly("1");
        assertThat(attempts(receiver, "job-3"))
                .as("put off: no attempt is counted")
                .containsExactly("1", "1");
        assertThat(attempts(receiver, "job-4")).containsExactly("1");
        assertThat(orders.dead()).isEqualTo(2);
        assertThat(orders.find("job-1").orElseThrow().job().lastFailure()).contains("answered 404");
        assertThat(orders.find("job-2").orElseThrow().job().lastFailure()).contains("gone");
        assertThat(Stream.of("job-0", "job-3")
                        .map(id -> receiver.got().stream()
                                .filter(got -> got.header("minutehand-job").equals(id))
                                .map(got -> got.header("webhook-id"))
                                .distinct()
                                .count()))
                .as("ids of a message, whatever its attempt")
                .containsOnly(1L);
        assertThat(orders.missing()).isZero();
    }

    @Test
    void shouldServeOthersWhileAReceiverHangs() {
        CountDownLatch hangs = new CountDownLatch(1);
        receiver.answers(got -> {
            hangs.await();
            return Reply.of(204);
        });
        start();
        schedule(orders, 300);
        await("it hangs").atMost(LONG).until(() -> receiver.got().size() == 8);
        schedule(others, 300);

        await("others are done").atMost(LONG).until(() -> others.counter("done") == 300);
        assertThat(orders.counter("done")).isZero();
        assertThat(receiver.got()).hasSize(8);

        hangs.countDown();
        await("and it, when it works again").atMost(LONG).until(() -> orders.counter("done") == 300);
        assertThat(receiver.got().stream()
                        .map(Receiver.Got::body)
                        .map(String::new)
                        .distinct())
                .hasSize(300);
        assertThat(receiver.got())
                .extracting((Got got) -> got.header("minutehand-attempt"))
                .containsOnly("1");
    }
}

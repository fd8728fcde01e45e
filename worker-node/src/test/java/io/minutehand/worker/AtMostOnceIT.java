package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.TestScripts;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A node whose acknowledgement before the run is refused when it repeats it: it runs the job if that was its own doing, and not if another node has
 * taken the job over. Its scripts refuse work, lose answers and count calls as keys of the test's say.
 */
class AtMostOnceIT {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final RedisOptions redis = Workers.ownNamespace();
    private final Runs runs = new Runs();
    private final Workers workers = new Workers(redis);
    private RedisCommands commands;
    private StoreConnection faulty;
    private Jobs jobs;

    @BeforeEach
    void open() {
        commands = SharedRedis.get().connect();
        faulty = TestScripts.open(redis.withReplyTimeout(Duration.ofSeconds(5)), this::edit);
    }

    @AfterEach
    void close() {
        workers.close();
        faulty.close();
        jobs.close();
        commands.close();
    }

    private String edit(String script, String text) {
        return switch (script) {
            case "ack" ->
                before(
                        before(text, "local hashes, ends, receipts =", failing("refuse-ack") + counting("acks")),
                        "return reply",
                        failing("lose-ack"));
            case "beat" -> before(text, "local nowUs = clock()", failing("refuse-beat"));
            case "extend" -> before(text, "return reply", counting("extensions"));
            default -> text;
        };
    }

    /** A text with an addition before each place. */
    private static String before(String text, String place, String addition) {
        assertThat(text).as("what is to be changed").contains(place);
        return text.replace(place, addition + place);
    }

    /** At the end of a script the answer is lost so, as far as the node can tell; at its front the call is. */
    private String failing(String fault) {
        return " if redis.call('EXISTS', '" + key(fault) + "') == 1 then return redis.error_reply('TRYAGAIN " + fault
                + "') end ";
    }

    private String counting(String what) {
        return " redis.call('INCR', '" + key(what) + "') ";
    }

    private String key(String name) {
        return redis.namespace() + ":test:" + name;
    }

    private void begin(String fault) {
        commands.call("SET", key(fault), "1");
    }

    private void end(String fault) {
        commands.call("DEL", key(fault));
    }

    private long count(String what) {
        return Long.parseLong(Objects.requireNonNullElse(commands.text("GET", key(what)), "0"));
    }

    /** Ends a fault, and waits until the node has made such a call since. */
    private void endAndAwait(String fault, String calls) {
        long before = count(calls);
        end(fault);
        await("more " + calls).atMost(LONG).until(() -> count(calls) > before);
    }

    private WorkerNode start(Duration visibility) {
        jobs = new Jobs(
                redis,
                "orders",
                TopicSettings.defaults()
                        .withShards(1)
                        .withDelivery(Delivery.AT_MOST_ONCE)
                        .withVisibility(visibility));
        WorkerNode node = workers.add(WorkerNode.builder()
                .connection(faulty)
                .settings(Workers.FAST)
                .name("faulty")
                .handle("orders", runs.handler("faulty"))
                .start());
        await("owns all").atMost(LONG).until(() -> node.stats().ownedShards() == 1);
        return node;
    }

    @Test
    void shouldNotRunAJobThatAnotherNodeTookOverWhileThisOneCouldNotAcknowledgeIt() {
        WorkerNode node = start(Duration.ofSeconds(30));
        String id = node.id();
        begin("refuse-ack");
        jobs.now("a");
        await("taken").atMost(LONG).until(() -> node.stats().inFlight() == 1);
        begin("refuse-beat");
        workers.start("other", "orders", runs.handler("other"));
        await("the other finds it dead, and runs its job")
                .atMost(LONG)
                .until(() -> jobs.counter("done") == 1 && runs.size() == 1);
        assertThat(node.id()).as("knows nothing of that").isEqualTo(id);
        endAndAwait("refuse-ack", "acks");
        end("refuse-beat");
        await("came back")
                .atMost(LONG)
                .until(() -> !node.id().equals(id) && node.stats().inFlight() == 0);
        assertThat(runs.all()).extracting(Runs.Run::node).containsExactly("other");
        assertThat(workers.counted(Counter.STALE)).isEqualTo(1);
        assertThat(workers.counted(Counter.DONE)).isEqualTo(1);
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldRunAJobWhoseAckWasItsOwnAsSoonAsItKnowsThatItWasNotFoundDead() {
        WorkerNode node = start(Duration.ofSeconds(30));
        begin("refuse-beat");
        begin("lose-ack");
        jobs.now("a");
        await("acknowledged").atMost(LONG).until(() -> jobs.counter("done") == 1);
        // Others may have found it dead by now, as far as it knows.
        long silentNs = System.nanoTime() + Workers.FAST.deadAfter().toNanos();
        await("silent for long").atMost(LONG).until(() -> System.nanoTime() - silentNs > 0);
        endAndAwait("lose-ack", "acks");
        assertThat(node.stats().inFlight()).as("not decided").isEqualTo(1);
        end("refuse-beat");
        await("ran").atMost(LONG).until(() -> runs.size() == 1 && node.stats().inFlight() == 0);
        assertThat(workers.counted(Counter.STALE)).isZero();
        assertThat(workers.counted(Counter.DONE)).isEqualTo(1);
    }

    @Test
    void shouldRunAJobAlthoughAnExtensionIsRefusedSinceTheAckThatWasLostCameFirst() {
        Duration visibility = Duration.ofSeconds(9);
        WorkerNode node = start(visibility);
        begin("lose-ack");
        jobs.now("a");
        await("an extension is refused").atMost(LONG).until(() -> count("extensions") >= 1);
        end("lose-ack");
        await("ran").atMost(LONG).until(() -> runs.size() == 1 && node.stats().inFlight() == 0);
        assertThat(runs.worstLatenessMs()).isLessThan(visibility.toMillis());
        assertThat(workers.counted(Counter.STALE)).isZero();
        assertThat(workers.counted(Counter.DONE)).isEqualTo(1);
    }
}

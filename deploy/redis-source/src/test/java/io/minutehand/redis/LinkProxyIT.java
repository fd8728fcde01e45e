package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.awaitility.Awaitility.await;

import io.minutehand.redis.LinkProxy.AfterLoss;
import io.minutehand.redis.LinkProxy.Direction;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LinkProxyIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** Long enough for a reply that comes, and short enough to wait for one that does not. */
    private static final Duration NO_REPLY = Duration.ofMillis(300);

    private static RedisServer server;

    private final List<RedisCommands> opened = new CopyOnWriteArrayList<>();
    private LinkProxy proxy;
    private RedisCommands direct;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = LinkProxy.before(server);
        direct = server.connect();
        direct.call("FLUSHALL");
    }

    @AfterEach
    void close() {
        opened.forEach(RedisCommands::close);
        direct.close();
        proxy.close();
    }

    private RedisCommands client() {
        return client(LIMIT);
    }

    private RedisCommands client(Duration patience) {
        RedisCommands client = RedisCommands.connect(proxy.uri(), patience);
        opened.add(client);
        return client;
    }

    private static String get(RedisCommands client, String key) {
        return String.valueOf(client.text("GET", key));
    }

    private static void assertEnded(RedisCommands client) {
        assertThatThrownBy(() -> client.receive()).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void shouldPassLargeValuesAndManyCommandsAtOnce() {
        RedisCommands client = client();
        byte[] large = new byte[3_000_000];
        large[1_234_567] = '\n';

        client.call("SET", "large", large);
        for (int i = 0; i < 500; i++) {
            client.send("ECHO", "echo-" + i);
        }

        for (int i = 0; i < 500; i++) {
            assertThat((byte[]) client.receive()).asString().isEqualTo("echo-" + i);
        }
        assertThat((byte[]) client.call("GET", "large")).isEqualTo(large);
        assertThat(proxy.open()).isEqualTo(1);
        assertThat(proxy.lost()).isZero();
    }

    @Test
    void shouldDelayEachWayAndKeepCommandsApart() {
        RedisCommands client = client();
        proxy.delay(Duration.ofMillis(100), Duration.ofMillis(150));
        long beganNs = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            client.send("INCR", "n");
            // Commands that come one by one are delayed side by side, not one after the other.
            await().pollDelay(Duration.ofMillis(10)).until(() -> true);
        }
        for (int i = 1; i <= 20; i++) {
            assertThat(client.receive()).isEqualTo((long) i);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - beganNs))
                .isBetween(Duration.ofMillis(440), Duration.ofMillis(2500));

        proxy.pass();
        client.call("PING");
        beganNs = System.nanoTime();
        client.call("PING");
        assertThat(Duration.ofNanos(System.nanoTime() - beganNs))
                .as("neither way is delayed")
                .isLessThan(Duration.ofMillis(240));
    }

    @Test
    void shouldHoldRequestsBackAndDeliverThemInOrder() {
        RedisCommands client = client();
        proxy.blackHole(Direction.TO_SERVER);
        client.send("SET", "a", "1");
        client.send("GET", "a");
        await().during(NO_REPLY).until(() -> direct.number("EXISTS", "a") == 0);

        proxy.pass();

        assertThat(client.receive()).isEqualTo("OK");
        assertThat((byte[]) client.receive()).asString().isEqualTo("1");
    }

    @Test
    void shouldHoldRepliesBackWhileRequestsAreExecuted() {
        RedisCommands client = client();
        proxy.blackHole(Direction.TO_CLIENT);
        client.send("SET", "a", "1");
        await().atMost(LIMIT).until(() -> get(direct, "a").equals("1"));
        assertThatThrownBy(() -> client(NO_REPLY)).isInstanceOf(UncheckedIOException.class);

        proxy.pass();

        assertThat(client.receive()).isEqualTo("OK");
    }

    @Test
    void shouldEndConnectionsThatAreHeldBack() {
        RedisCommands client = client();
        proxy.blackHole(Direction.TO_CLIENT);
        client.send("PING");

        proxy.resetAll();

        assertEnded(client);
        await().atMost(LIMIT).until(() -> proxy.open() == 0);
    }

    @Test
    void shouldResetAllAndTakeNewConnections() {
        RedisCommands first = client();
        RedisCommands second = client();

        proxy.resetAll();

        assertEnded(first);
        assertEnded(second);
        assertThat(proxy.resets()).isEqualTo(2);
        assertThat(client().call("PING")).isEqualTo("PONG");
        assertThat(proxy.accepted()).isEqualTo(3);
    }

    @Test
    void shouldRefuseNewConnectionsAndKeepOpenOnes() {
        RedisCommands client = client();
        for (int i = 0; i < 3; i++) {
            proxy.refuse();
            assertThatThrownBy(() -> client(LIMIT))
                    .isInstanceOf(UncheckedIOException.class)
                    // One that was in the queue when the door closed is reset.
                    .hasMessageMatching(".*(refused|reset).*");
            assertThat(client.call("PING")).isEqualTo("PONG");

            proxy.admit();

            assertThat(client().call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void shouldOutliveTheServer() {
        try (RedisServer own = RedisServer.start();
                LinkProxy before = LinkProxy.before(own)) {
            try (RedisCommands client = RedisCommands.connect(before.uri())) {
                own.kill();
                assertEnded(client);
            }
            assertThatThrownBy(() -> RedisCommands.connect(before.uri())).isInstanceOf(UncheckedIOException.class);
            own.restart();
            try (RedisCommands client = RedisCommands.connect(before.uri())) {
                assertThat(client.call("PING")).isEqualTo("PONG");
            }
        }
    }

    @Test
    void shouldLoseOneReplyAndNeverHandOutTheNextInItsPlace() {
        direct.call("SET", "before", "b");
        direct.call("SET", "after", "a");
        proxy.loseReplies("counter", 1);
        RedisCommands client = client();
        client.send("GET", "before");
        client.send("INCR", "counter");
        client.send("GET", "after");

        assertThat((byte[]) client.receive()).asString().isEqualTo("b");
        assertEnded(client);

        assertThat(get(direct, "counter")).isEqualTo("1");
        assertThat(proxy.lost()).isEqualTo(1);
        assertThat(proxy.lost("counter")).isEqualTo(1);
        assertThat(proxy.lost("other")).isZero();
        assertThat(client().call("INCR", "counter")).isEqualTo(2L);
    }

    @Test
    void shouldStaySilentAfterALostReply() {
        proxy.afterLoss(AfterLoss.SILENCE);
        proxy.loseReplies("counter", 2);
        RedisCommands first = client(NO_REPLY);
        RedisCommands second = client(NO_REPLY);
        RedisCommands third = client();

        first.send("INCR", "counter");
        assertEnded(first);
        second.send("INCR", "counter");
        second.send("INCR", "counter");
        assertEnded(second);

        assertThat(third.call("INCR", "counter")).isEqualTo(4L);
        assertThat(proxy.lost("counter")).isEqualTo(2);
        assertThat(proxy.open()).isEqualTo(3);
        proxy.resetSilent();
        await().atMost(LIMIT).until(() -> proxy.open() == 1);
        assertThat(third.call("PING")).isEqualTo("PONG");
    }

    @Test
    void shouldNotLoseMoreThanItWasTold() {
        proxy.loseReplies("counter", 3);
        int ended = 0;
        for (int i = 0; i < 10; i++) {
            try {
                client().call("INCR", "counter");
            } catch (UncheckedIOException e) {
                ended++;
            }
        }
        assertThat(ended).isEqualTo(3);
        assertThat(get(direct, "counter")).isEqualTo("10");
        proxy.loseReplies("counter", 3);
        proxy.keepReplies();
        assertThat(client().call("INCR", "counter")).isEqualTo(11L);
    }

    @Test
    void shouldCountALossOnlyWhenTheReplyHasCome() {
        try (RedisServer own = RedisServer.start();
                LinkProxy before = LinkProxy.before(own)) {
            before.loseReplies("counter", 1);
            try (RedisCommands client = RedisCommands.connect(before.uri())) {
                own.pause();
                client.send("INCR", "counter");
                before.resetAll();
                own.resume();
            }
            try (RedisCommands client = RedisCommands.connect(before.uri())) {
                assertThat(before.lost()).isZero();
                await().atMost(LIMIT).until(() -> !answers(client, "counter"));
            }
            assertThat(before.lost("counter")).isEqualTo(1);
        }
    }

    private static boolean answers(RedisCommands client, String key) {
        try {
            client.call("INCR", key);
            return true;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Test
    void shouldLeaveSubscriptionsAlone() {
        RedisCommands subscriber = client();
        subscriber.call("SSUBSCRIBE", "news");
        proxy.loseRepliesAtRandom("", 1, 1);
        direct.call("SPUBLISH", "news", "one");
        assertThat(subscriber.receive()).asInstanceOf(LIST).hasSize(3);
        subscriber.send("PING");
        assertThat(subscriber.receive()).asInstanceOf(LIST).hasSize(2);
        assertThat(proxy.lost()).isZero();
    }

    @Test
    void shouldLoseAtRandomAndGiveEveryClientItsOwnReplies() throws Exception {
        long seed = System.nanoTime();
        System.out.println("LinkProxyIT seed=" + seed);
        proxy.loseRepliesAtRandom("EVAL", 0.05, seed);
        int threads = 4;
        int calls = 400;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Integer>> results = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            String key = "n" + thread;
            results.add(pool.submit(() -> unanswered(key, calls)));
        }
        int unanswered = 0;
        for (Future<Integer> result : results) {
            unanswered += result.get();
        }
        pool.shutdown();

        assertThat(proxy.lost()).isEqualTo(unanswered).isBetween(20L, 200L);
        for (int thread = 0; thread < threads; thread++) {
            assertThat(get(direct, "n" + thread)).isEqualTo(Integer.toString(calls));
        }
    }

    /** Counts a key up, one call after the other; each reply must be that of its call, also after a lost one. */
    private int unanswered(String key, int calls) {
        int unanswered = 0;
        RedisCommands client = client();
        for (int i = 1; i <= calls; i++) {
            try {
                assertThat(client.call("EVAL", "return redis.call('INCR', KEYS[1])", 1, key))
                        .isEqualTo((long) i);
            } catch (UncheckedIOException e) {
                unanswered++;
                client.close();
                client = RedisCommands.connect(proxy.uri(), LIMIT);
            }
        }
        client.close();
        return unanswered;
    }
}

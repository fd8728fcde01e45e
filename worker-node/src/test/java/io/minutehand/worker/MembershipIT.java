package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who counts as alive, with a real list in Redis and a clock that the test moves. */
class MembershipIT {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final RedisOptions redis = Workers.ownNamespace();
    private final WorkerSettings settings = WorkerSettings.defaults();
    private final AtomicLong nowNs = new AtomicLong(System.nanoTime());
    private final List<Observer> observers = new ArrayList<>();
    private StoreConnection connection;
    private RedisCommands commands;

    /** A node that does nothing but beat. */
    private final class Observer implements Membership.Listener {
        private final DueTimer timer = new DueTimer("observer", nowNs::get);
        private final Membership membership;
        private final List<String> gone = new ArrayList<>();
        private final List<String> oldIds = new ArrayList<>();
        private final Set<String> topics = new HashSet<>(Set.of("orders"));

        Observer(String name) {
            membership = new Membership(
                    connection.cluster(timer),
                    settings,
                    connection.clientId(),
                    () -> new Peer(id(), name, Set.copyOf(topics), Set.of(), false),
                    this,
                    timer);
            observers.add(this);
        }

        String id() {
            return membership.node().id();
        }

        Observer join() {
            membership.start(nowNs.get());
            until("joined", membership::joined);
            return this;
        }

        Set<String> peers() {
            Set<String> ids = new HashSet<>();
            membership.peers().forEach(peer -> ids.add(peer.id()));
            return ids;
        }

        @Override
        public void changed(Set<String> nowGone) {
            gone.addAll(nowGone);
        }

        @Override
        public void renamed(NodeId old) {
            oldIds.add(old.id());
        }
    }

    @BeforeEach
    void open() {
        connection = StoreConnection.open(redis.withReplyTimeout(Duration.ofSeconds(5)));
        commands = SharedRedis.get().connect();
    }

    @AfterEach
    void close() {
        commands.close();
        connection.close();
    }

    /** Lets every observer take the replies that have come, until something holds. */
    private void until(String what, BooleanSupplier holds) {
        await(what)
                .pollInSameThread()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .atMost(LONG)
                .until(() -> {
                    observers.forEach(observer -> observer.timer.runOnce());
                    return holds.getAsBoolean();
                });
    }

    /** Moves the clock on, a beat at a time, and waits each time until all have beaten. */
    private void pass(int beats) {
        for (int i = 0; i < beats; i++) {
            Map<Observer, Long> before = new java.util.HashMap<>();
            observers.forEach(observer -> before.put(observer, observer.membership.beats()));
            nowNs.addAndGet(settings.beat().toNanos());
            until(
                    "all have beaten",
                    () -> before.entrySet().stream()
                            .allMatch(entry -> entry.getKey().membership.beats() > entry.getValue()));
        }
    }

    private List<String> listed() {
        return commands.texts("ZRANGE", connection.keys().nodes(), 0, -1);
    }

    /** A node that is in the list, and says what it handles or not, and beats only when told. */
    private void list(String id, long counter, boolean described) {
        commands.call("ZADD", connection.keys().nodes(), counter * 1000 + 1, id);
        if (described) {
            commands.call("HSET", connection.keys().node(id), "name", "silent", "topics", "orders");
        }
    }

    @Test
    void shouldNotHurryWhenItCannotStoreWhatItHandles() {
        Observer one = new Observer("one").join();
        String key = connection.keys().node(one.id());
        commands.call("DEL", key);
        commands.call("SET", key, "no hash");
        long before = one.membership.beats();
        one.membership.announce();
        until("has beaten", () -> one.membership.beats() > before);
        // The clock stands still, while calls of the same connection come and go.
        for (int i = 0; i < 100; i++) {
            connection.cluster(Runnable::run).description("nobody").join();
            one.timer.runOnce();
        }
        assertThat(one.membership.beats() - before).as("beats at one time").isLessThanOrEqualTo(2);
        commands.call("DEL", key);
        pass(1);
        until("said", () -> "one".equals(commands.text("HGET", key, "name")));
    }

    @Test
    void shouldKnowTheOthersWhenTheyHaveSaidWhatTheyHandle() {
        Observer one = new Observer("one").join();
        until("alone", () -> one.peers().equals(Set.of(one.id())));
        Observer two = new Observer("two").join();
        until("the newcomer knows both", () -> two.peers().equals(Set.of(one.id(), two.id())));
        assertThat(one.peers()).containsExactly(one.id());
        pass(1);
        until("the elder knows both", () -> one.peers().equals(Set.of(one.id(), two.id())));
        two.topics.add("invoices");
        two.membership.announce();
        until(
                "said",
                () -> "invoices,orders"
                        .equals(sorted(commands.text("HGET", connection.keys().node(two.id()), "topics"))));
        // The elder may beat before the other's new version is in the list: it sees it with its next beat.
        pass(2);
        until(
                "news of a topic",
                () -> one.membership.peers().stream()
                        .anyMatch(peer -> peer.id().equals(two.id()) && peer.handles("invoices")));
        assertThat(one.gone).isEmpty();
    }

    @Test
    void shouldAskAgainWhatANodeHandlesWhenThatCouldNotBeRead() {
        list("77", 5, true);
        Observer one = new Observer("one").join();
        until("knows it", () -> one.peers().equals(Set.of(one.id(), "77")));
        String key = connection.keys().node("77");
        commands.call("DEL", key);
        commands.call("SET", key, "no hash");
        commands.call("ZADD", connection.keys().nodes(), 6 * 1000 + 2, "77");
        pass(2);
        commands.call("DEL", key);
        commands.call("HSET", key, "name", "silent", "topics", "invoices,orders");
        // The same version still: what was missed is asked for with the next beat.
        commands.call("ZADD", connection.keys().nodes(), 7 * 1000 + 2, "77");
        pass(1);
        until(
                "news of a topic",
                () -> one.membership.peers().stream()
                        .anyMatch(peer -> peer.id().equals("77") && peer.handles("invoices")));
    }

    private static String sorted(String joined) {
        return String.join(",", new java.util.TreeSet<>(List.of(joined.split(",", -1))));
    }

    @Test
    void shouldNotCountAnybodyBeforeTheListIsComplete() {
        list("77", 5, false);
        Observer one = new Observer("one").join();
        assertThat(one.peers()).as("one says nothing of itself yet").isEmpty();
        pass(1);
        assertThat(one.peers()).isEmpty();
        list("77", 6, true);
        pass(1);
        until("complete", () -> one.peers().equals(Set.of(one.id(), "77")));
    }

    @Test
    void shouldNotWaitForEverForANodeThatSaysNothing() {
        list("77", 5, false);
        Observer one = new Observer("one").join();
        pass(3);
        assertThat(one.peers()).containsExactly(one.id());
    }

    @Test
    void shouldFindANodeDeadWhoseCounterStandsStill() {
        list("77", 5, true);
        Observer one = new Observer("one").join();
        Observer two = new Observer("two").join();
        pass(4);
        assertThat(listed()).contains("77");
        assertThat(one.membership.suspect("77")).isTrue();
        assertThat(one.membership.suspect(two.id())).isFalse();
        pass(2);
        until("both know", () -> one.gone.contains("77") && two.gone.contains("77"));
        assertThat(listed()).containsExactlyInAnyOrder(one.id(), two.id());
        pass(3);
        assertThat(one.gone).as("once per verdict").containsExactly("77");
        assertThat(two.gone).containsExactly("77");
        assertThat(one.peers()).isEqualTo(Set.of(one.id(), two.id()));
    }

    @Test
    void shouldLetANodeLiveWhoseCounterMoves() {
        Observer one = new Observer("one").join();
        for (int i = 1; i < 12; i++) {
            // Every fourth second is within what a node may be silent.
            list("77", i / 4 + 1, true);
            pass(1);
        }
        assertThat(listed()).contains("77");
        assertThat(one.gone).isEmpty();
    }

    @Test
    void shouldJudgeNobodyForAWhileAfterAGapOfItsOwn() {
        list("77", 5, true);
        Observer one = new Observer("one").join();
        pass(3);
        // An outage or a pause: for 20 s nothing of this node's was answered, and it saw no counter move.
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(20));
        pass(5);
        assertThat(listed())
                .as("silent for 28 s, but nobody could have seen it")
                .contains("77");
        assertThat(one.peers()).as("goes on with the list that it had").contains("77");
        list("77", 6, true);
        pass(3);
        assertThat(listed()).contains("77");
        pass(4);
        until("silent for long enough after the gap", () -> one.gone.contains("77"));
    }

    @Test
    void shouldComeBackUnderAnotherIdWhenItWasStruckOff() {
        Observer one = new Observer("one").join();
        String old = one.id();
        commands.call("ZREM", connection.keys().nodes(), old);
        nowNs.addAndGet(settings.beat().toNanos());
        until("renamed", () -> one.oldIds.equals(List.of(old)));
        until("joined again", () -> one.membership.joined() && one.peers().equals(Set.of(one.id())));
        assertThat(one.id()).isNotEqualTo(old);
        assertThat(listed()).containsExactly(one.id());
        pass(5);
        assertThat(one.oldIds).as("once").hasSize(1);
        assertThat(one.gone).as("its own old id is nobody").isEmpty();
    }

    @Test
    void shouldLearnWhetherItWasStruckOffBeforeItGoesOnAfterAPause() {
        Observer one = new Observer("one").join();
        pass(2);
        List<String> ids = new ArrayList<>();
        one.membership.afterPause(() -> ids.add(one.id()));
        assertThat(ids).as("at once without a pause").containsExactly(one.id());
        String old = one.id();

        nowNs.addAndGet(settings.deadAfter().toNanos());
        commands.call("ZREM", connection.keys().nodes(), old);
        one.membership.afterPause(() -> ids.add(one.id()));

        assertThat(ids).as("not before it asked").hasSize(1);
        until("it goes on", () -> ids.size() == 2);
        assertThat(one.oldIds).containsExactly(old);
        assertThat(ids.get(1)).isEqualTo(one.id()).isNotEqualTo(old);
    }

    @Test
    void shouldGoOnAfterAPauseThoughTheListCannotBeReached() {
        Observer one = new Observer("one").join();
        pass(2);
        String nodes = connection.keys().nodes();
        commands.call("RENAME", nodes, nodes + ":aside");
        commands.call("SET", nodes, "no list");
        List<String> ids = new ArrayList<>();

        nowNs.addAndGet(settings.deadAfter().toNanos());
        one.membership.afterPause(() -> ids.add(one.id()));

        assertThat(ids).isEmpty();
        until("it goes on", () -> ids.size() == 1);
        assertThat(one.oldIds).isEmpty();
        commands.call("DEL", nodes);
    }

    @Test
    void shouldComeBackWhenRedisCameBackEmpty() {
        Observer one = new Observer("one").join();
        Observer two = new Observer("two").join();
        pass(2);
        commands.call("DEL", connection.keys().nodes());
        nowNs.addAndGet(settings.beat().toNanos());
        until("both renamed", () -> one.oldIds.size() == 1 && two.oldIds.size() == 1);
        pass(3);
        until(
                "both know each other again",
                () -> one.peers().equals(Set.of(one.id(), two.id()))
                        && two.peers().equals(one.peers()));
        assertThat(listed()).containsExactlyInAnyOrder(one.id(), two.id());
    }

    @Test
    void shouldLeaveForGoodEvenWithABeatUnderWay() {
        Observer one = new Observer("one").join();
        Observer two = new Observer("two").join();
        pass(2);
        nowNs.addAndGet(settings.beat().toNanos());
        two.timer.runOnce();
        var left = two.membership.leave();
        until("left", left::isDone);
        assertThat(left.join()).isTrue();
        assertThat(listed()).containsExactly(one.id());
        observers.remove(two);
        pass(1);
        until("seen", () -> one.gone.contains(two.id()));
        two.timer.runOnce();
        assertThat(two.oldIds).as("no return after the farewell").isEmpty();
        assertThat(listed()).containsExactly(one.id());
    }

    @Test
    void shouldLeaveForGoodWhileItsFirstBeatIsUnderWay() {
        Observer one = new Observer("one");
        one.membership.start(nowNs.get());
        one.timer.runOnce();
        var left = one.membership.leave();
        until("left", left::isDone);
        one.timer.runOnce();
        assertThat(listed()).isEmpty();
    }
}

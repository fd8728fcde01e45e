package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.LedgerState;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.telemetry.Telemetry.Gauge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LedgerWatchTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final ShardId A0 = new ShardId("a", 0);
    private static final ShardId A1 = new ShardId("a", 1);
    private static final ShardId B0 = new ShardId("b", 0);

    private final Recorders recorders = new Recorders();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(LedgerWatch.class);
    private final List<ShardId> owned = new ArrayList<>(List.of(A0, A1, B0));
    private final Map<ShardId, LedgerState> ledgers = new HashMap<>();
    private final List<ShardId> asked = new ArrayList<>();
    private long nowNs = 5 * SECOND;
    private final DueTimer timer = new DueTimer("test", () -> nowNs);
    private CompletableFuture<LedgerState> next;
    private final LedgerWatch watch = new LedgerWatch(
            shard -> {
                asked.add(shard);
                return next != null
                        ? next
                        : CompletableFuture.completedFuture(ledgers.getOrDefault(shard, ledger(0, 0)));
            },
            () -> owned,
            WorkerSettings.defaults().withLedgerCheck(Duration.ofSeconds(9)),
            new StoreCalls(timer, recorders),
            recorders,
            timer);

    @BeforeEach
    void listen() {
        logger.setLevel(Level.INFO);
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void deafen() {
        logger.detachAppender(lines);
        logger.setLevel(null);
    }

    @Test
    void shouldAskEachShardOnceInAPeriodAndSpreadTheCalls() {
        watch.start(nowNs);
        pass(9);
        List<Integer> perSecond = new ArrayList<>();
        for (int second = 0; second < 18; second++) {
            int before = asked.size();
            pass(1);
            perSecond.add(asked.size() - before);
        }

        assertThat(perSecond).containsExactly(0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1);
        assertThat(asked.subList(0, 6)).containsExactly(A0, A1, B0, A0, A1, B0);
        watch.stop();
        int before = asked.size();
        pass(30);
        assertThat(asked).hasSize(before);
    }

    @Test
    void shouldTellOnceThatJobsAreMissingAndOnceThatTheyAreNot() {
        ledgers.put(A0, ledger(2, 0));
        ledgers.put(A1, ledger(-2, 0));
        round();
        round();

        assertThat(recorders.gauged(Gauge.LEDGER_DIFF, "a"))
                .as("too many here do not hide missing ones there")
                .isEqualTo(4);
        assertThat(recorders.gauged(Gauge.LEDGER_DIFF, "b")).isZero();
        assertThat(told(Level.ERROR)).hasSize(2);
        assertThat(told(Level.ERROR).get(1)).contains("topic=a difference=4 shards=[0, 1]");

        ledgers.clear();
        round();
        round();
        assertThat(recorders.gauged(Gauge.LEDGER_DIFF, "a")).isZero();
        assertThat(told(Level.ERROR)).as("half of it was a change, too").hasSize(3);
        assertThat(told(Level.INFO)).hasSize(1).first().asString().contains("adds up topic=a");
    }

    @Test
    void shouldTellOfRecordsThatAreLost() {
        ledgers.put(A0, ledger(0, 2));
        round();
        round();

        assertThat(told(Level.WARN)).as("lost before this node looked").hasSize(1);
        assertThat(recorders.gauged(Gauge.ORPHANS, "a")).isEqualTo(2);

        ledgers.put(A0, ledger(0, 3));
        round();
        round();
        assertThat(told(Level.ERROR)).hasSize(1).first().asString().contains("topic=a shard=0 orphans=3 before=2");
        assertThat(recorders.gauged(Gauge.ORPHANS, "a")).isEqualTo(3);
    }

    @Test
    void shouldForgetWhatIsAnotherNodesNow() {
        ledgers.put(A0, ledger(2, 1));
        round();
        assertThat(recorders.gauged(Gauge.LEDGER_DIFF, "a")).isEqualTo(2);

        owned.remove(A0);
        round();

        assertThat(recorders.gauged(Gauge.LEDGER_DIFF, "a")).isZero();
        assertThat(recorders.gauged(Gauge.ORPHANS, "a")).isZero();
        assertThat(told(Level.INFO)).as("it is not known to be well again").isEmpty();
    }

    @Test
    void shouldHaveOneQuestionOpenAndSurviveFailures() {
        next = new CompletableFuture<>();
        watch.runOnce(nowNs);
        watch.runOnce(nowNs);
        assertThat(asked).containsExactly(A0);

        next.completeExceptionally(new IllegalStateException("no Redis"));
        next = null;
        watch.runOnce(nowNs);
        assertThat(asked).containsExactly(A0, A1);
        assertThat(recorders.counted(Counter.STORE_ERRORS, "a")).isEqualTo(1);
    }

    @Test
    void shouldRestWhileItOwnsNothing() {
        owned.clear();
        watch.start(nowNs);
        pass(30);
        assertThat(asked).isEmpty();

        owned.add(B0);
        pass(9);
        assertThat(asked).containsExactly(B0);
    }

    @Test
    void shouldRefusePeriodsOutOfRange() {
        WorkerSettings good = WorkerSettings.defaults();
        assertThat(good.ledgerCheck()).isEqualTo(Duration.ofSeconds(10));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> good.withLedgerCheck(Duration.ofMillis(9)))
                .withMessageContaining("ledgerCheck=PT0.009S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> good.withLedgerCheck(Duration.ofMinutes(11)))
                .withMessageContaining("ledgerCheck=PT11M");
    }

    private void pass(int seconds) {
        nowNs += seconds * SECOND;
        timer.runOnce();
    }

    private void round() {
        for (int i = 0; i < 3; i++) {
            watch.runOnce(nowNs);
        }
    }

    private List<String> told(Level level) {
        return lines.list.stream()
                .filter(line -> line.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private static LedgerState ledger(long difference, long orphans) {
        return new LedgerState(difference, 0, 0, 0, orphans, true);
    }
}

package io.minutehand.worker.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobId;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.ReconcileStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who holds the lease of a reconciliation, and for how long. */
class PassLeaseIT {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final long NEVER = TimeUnit.HOURS.toNanos(1);

    private final StoreConnection connection =
            StoreConnection.open(RedisOptions.of(SharedRedis.get().uri())
                    .withNamespace("t" + JobId.random().substring(0, 8))
                    .withReplyTimeout(Duration.ofSeconds(5)));
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private final ReconcileStore store = connection.reconciles(timer);
    private final AtomicInteger lost = new AtomicInteger();

    @AfterEach
    void close() {
        timer.shutdownNow();
        connection.close();
    }

    private PassLease lease(long silenceNs) {
        return lease(NodeId.next(connection.clientId()), silenceNs);
    }

    private PassLease lease(NodeId node, long silenceNs) {
        return new PassLease(store, "n", node, LEASE, timer, lost::incrementAndGet, silenceNs);
    }

    @Test
    void shouldBeHeldByOneUntilItIsGivenBack() {
        PassLease mine = lease(NEVER);
        PassLease others = lease(NEVER);
        assertThat(mine.held()).isFalse();
        assertThat(mine.claim()).isTrue();
        assertThat(others.claim()).isFalse();
        assertThat(others.held()).isFalse();
        long firstNs = mine.validUntilNs();

        await("it is renewed").atMost(LONG).until(() -> mine.validUntilNs() - firstNs > 0);
        mine.release();

        assertThat(mine.held()).isFalse();
        assertThat(others.claim()).isTrue();
        assertThat(mine.claim()).isFalse();
        others.release();
        assertThat(lost).hasValue(0);
    }

    @Test
    void shouldEndWhenItsHolderShowsNoSignOfLife() {
        PassLease silent = lease(TimeUnit.MILLISECONDS.toNanos(1));
        PassLease others = lease(NEVER);
        assertThat(silent.claim()).isTrue();

        await("it ran out, and another took it").atMost(LONG).until(others::claim);
        assertThat(silent.held()).as("known here before it is known in Redis").isFalse();
        others.release();
    }

    @Test
    void shouldTellWhenAnotherTookIt() {
        NodeId node = NodeId.next(connection.clientId());
        PassLease mine = lease(node, NEVER);
        assertThat(mine.claim()).isTrue();
        NodeId thief = NodeId.next(connection.clientId());
        // As if it had run out, which it does not know.
        assertThat(store.release("n", node).join()).isTrue();
        assertThat(store.claim("n", thief, Duration.ofMinutes(1)).join()).isTrue();

        await("it is known").atMost(LONG).until(() -> lost.get() == 1);
        assertThat(mine.held()).isFalse();
        store.release("n", thief).join();
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobId;
import io.minutehand.core.store.ReconcileStore.Progress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class ReconcileStoreIT {
    private static final Duration TTL = Duration.ofHours(1);

    private final TestStore store;
    private final ReconcileStore reconciles;
    private final String name = "n" + JobId.random();

    ReconcileStoreIT(TestStore store) {
        this.store = store;
        this.reconciles = store.connection.reconciles(Runnable::run);
    }

    @Test
    @Replies("progress OK")
    void shouldKeepWhatTheHolderOfTheLeaseWrites() {
        assertThat(get(reconciles.claim(name, store.node(1), LEASE))).isTrue();

        assertThat(read(1)).isEqualTo(new Progress(true, read(1).nowUs(), ""));
        assertThat(write(1, "page 1").state()).isEqualTo("page 1");
        assertThat(write(1, "page 2").held()).isTrue();
        assertThat(read(1).state()).isEqualTo("page 2");
        assertThat(store.redis.number("PTTL", store.keys.reconcileState(name))).isBetween(1L, TTL.toMillis());
    }

    @Test
    @Replies("progress LOST")
    void shouldRefuseWhoeverDoesNotHoldTheLease() {
        get(reconciles.claim(name, store.node(1), LEASE));
        write(1, "page 1");
        assertThat(get(reconciles.claim(name, store.node(2), LEASE))).isFalse();
        assertThat(read(2).held()).isFalse();
        assertThat(write(2, "stolen").held()).isFalse();

        get(reconciles.release(name, store.node(1)));
        assertThat(write(1, "too late").held()).as("nobody holds it").isFalse();
        assertThat(get(reconciles.claim(name, store.node(2), LEASE))).isTrue();
        assertThat(write(1, "too late").held()).as("another holds it").isFalse();
        assertThat(read(2).state()).isEqualTo("page 1");
    }

    @Test
    void shouldRenewAndReleaseALeaseHoweverItWasTaken() {
        assertThat(get(reconciles.renew(name, store.node(1), LEASE))).isFalse();
        assertThat(get(reconciles.claimByScript(name, store.node(1), Duration.ofSeconds(30))))
                .isTrue();
        assertThat(get(reconciles.claim(name, store.node(1), Duration.ofSeconds(30))))
                .as("its holder's lease starts anew")
                .isTrue();
        assertThat(get(reconciles.renew(name, store.node(1), LEASE))).isTrue();
        assertThat(store.redis.number("PTTL", store.keys.reconcileLease(name))).isGreaterThan(30_000);

        assertThat(get(reconciles.release(name, store.node(2)))).isFalse();
        assertThat(get(reconciles.release(name, store.node(1)))).isTrue();
        assertThat(get(reconciles.claim(name, store.node(2), LEASE))).isTrue();
    }

    @Test
    void shouldRefuseAStateThatMeansARead() {
        assertThatThrownBy(() -> write(1, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name);
    }

    private Progress read(int node) {
        return get(reconciles.read(name, store.node(node), deadline()));
    }

    private Progress write(int node, String state) {
        return get(reconciles.write(name, store.node(node), state, TTL, deadline()));
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    }
}

package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.topic.TopicSettings;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class HomeStoreIT {
    private final TestStore store;
    private HomeStore homes;

    HomeStoreIT(TestStore store) {
        this.store = store;
    }

    @BeforeEach
    void open() {
        homes = store.connection.homes(Runnable::run);
    }

    @Test
    @Replies("members")
    void shouldReadEveryIdPageByPage() {
        Set<String> stored = new HashSet<>();
        for (int batch = 0; batch < 8; batch++) {
            List<NewJob> jobs = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                stored.add("job-" + batch + "-" + i);
                // Larger than what Redis keeps packed, so that there are pages.
                jobs.add(PopIT.large("job-" + batch + "-" + i, 60_000, 100));
            }
            get(store.jobs.schedule(store.shard(), 1, jobs));
        }
        Set<String> read = new HashSet<>();
        int pages = 0;
        for (int hash = 0; hash < 16; hash++) {
            String cursor = "0";
            do {
                HomeStore.Page page = get(homes.page(store.shard(), hash, cursor));
                read.addAll(page.ids());
                cursor = page.next();
                pages++;
            } while (!cursor.equals("0"));
        }

        assertThat(read).isEqualTo(stored);
        assertThat(pages).isGreaterThan(16);
    }

    @Test
    @Replies({"absorb OK", "absorb KEPT"})
    void shouldAddCountersOnce() {
        store.schedule("a", 0);
        Map<String, Long> counters = Map.of("accepted", 5L, "done", 3L, "purged", 2L);

        assertThat(store.changesOf(() -> get(homes.absorb(store.shard(), "absorbed:7:2", counters))))
                .containsExactlyInAnyOrder(
                        "~ ledger accepted = 1 > 6",
                        "+ ledger done = 3",
                        "+ ledger purged = 2",
                        "+ ledger absorbed:7:2 = 1");
        assertThat(store.changesOf(() -> get(homes.absorb(store.shard(), "absorbed:7:2", counters))))
                .isEmpty();
        assertThat(get(store.jobs.audit(store.shard()))).isZero();
    }

    @Test
    @Replies({"retire OK", "retire BUSY"})
    void shouldForgetAShardThatHoldsNothing() {
        List<HandedJob> handed = store.inFlight("in-flight", "dead");
        HandedJob inFlight = handed.get(0);
        HandedJob dying = handed.get(1);
        get(store.jobs.bury(dying, "no", TopicSettings.defaults()));
        store.schedule("pending", 0);

        assertThat(retire()).as("pending, in flight, dead").isFalse();
        get(store.jobs.cancel(store.shard(), "pending", RETENTION, soon()));
        assertThat(retire()).as("in flight, dead").isFalse();
        get(store.jobs.ack(store.shard(), List.of(inFlight), RETENTION));
        assertThat(retire()).as("dead").isFalse();
        long diedAtMs = store.redis.number(
                "ZSCORE", store.keys.dead(store.shard()), dying.receipt().member());
        assertThat(get(store.jobs.purge(store.shard(), "dead", diedAtMs))).isTrue();

        assertThat(retire()).isTrue();

        assertThat(store.redis.number("EXISTS", store.keys.ledger(store.shard())))
                .isZero();
        assertThat(retire()).as("a repeat").isTrue();
    }

    private boolean retire() {
        return get(homes.retire(store.shard()));
    }
}

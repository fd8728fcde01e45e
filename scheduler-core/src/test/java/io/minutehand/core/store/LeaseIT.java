package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.LEASE;
import static io.minutehand.core.store.TestStore.START_MINUTE;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.ScriptRunner.Call;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class LeaseIT {
    private final TestStore store;

    LeaseIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("claim OK")
    void shouldWriteTheSameByScriptAsByRedisson() {
        List<String> byRedisson =
                store.changesOf(() -> assertThat(get(store.leases.claim(store.bucket(0), store.node(1), LEASE)))
                        .isTrue());
        assertThat(byRedisson).containsExactlyInAnyOrder("+ lease:M+0 C:1 = 1", "+ lease:M+0 ttl = 1min");
        get(store.leases.release(store.shard(), List.of(START_MINUTE), store.node(1)));

        assertThat(store.changesOf(
                        () -> assertThat(get(store.leases.claimByScript(store.bucket(0), store.node(1), LEASE)))
                                .isTrue()))
                .isEqualTo(byRedisson);
    }

    @Test
    @Replies("claim HELD")
    void shouldRefuseALeaseThatAnotherHoldsWhicheverWayItWasTaken() {
        store.claim(0, 1);
        get(store.leases.claimByScript(store.bucket(1), store.node(1), LEASE));

        assertThat(store.changesOf(() -> {
                    for (int minute = 0; minute < 2; minute++) {
                        assertThat(get(store.leases.claim(store.bucket(minute), store.node(2), LEASE)))
                                .isFalse();
                        assertThat(get(store.leases.claimByScript(store.bucket(minute), store.node(2), LEASE)))
                                .isFalse();
                    }
                }))
                .isEmpty();
        List<Object> held = store.run(new Call(Script.CLAIM)
                .key(store.keys.lease(store.bucket(0)))
                .arg(store.node(2).holder())
                .arg(1000));
        assertThat(held).startsWith("HELD", START_MS * 1000).hasSize(3);
        assertThat((Long) held.get(2)).isBetween(30_000L, LEASE.toMillis());
    }

    @Test
    void shouldStartALeaseAnewForItsHolder() {
        get(store.leases.claim(store.bucket(0), store.node(1), Duration.ofSeconds(100)));

        assertThat(get(store.leases.claim(store.bucket(0), store.node(1), Duration.ofSeconds(200))))
                .isTrue();
        assertThat(leaseMs(0)).isBetween(150_000L, 200_000L);
        assertThat(get(store.leases.claimByScript(store.bucket(0), store.node(1), Duration.ofSeconds(300))))
                .isTrue();
        assertThat(leaseMs(0)).isBetween(250_000L, 300_000L);
        get(store.leases.claim(store.bucket(0), store.node(1), LEASE));

        assertThat(get(store.leases.release(store.shard(), List.of(START_MINUTE), store.node(1))))
                .as("one release is enough, however often it was claimed")
                .containsExactly(true);
        assertThat(store.image().toString()).doesNotContain("lease");
    }

    @Test
    @Replies({"renew OK", "renew LOST"})
    void shouldProlongOnlyWhatTheCallerHolds() {
        store.claim(0, 1);
        store.claim(1, 2);

        List<String> changes = store.changesOf(() -> assertThat(get(store.leases.renew(
                        store.shard(),
                        List.of(START_MINUTE, START_MINUTE + 1, START_MINUTE + 2, START_MINUTE),
                        store.node(1),
                        Duration.ofMinutes(4))))
                .containsExactly(true, false, false, true));

        assertThat(changes).containsExactly("~ lease:M+0 ttl = 1min > 4min");
    }

    @Test
    @Replies({"release OK", "release LOST"})
    void shouldGiveBackOnlyWhatTheCallerHolds() {
        store.claim(0, 1);
        store.claim(1, 2);
        List<Long> minutes = List.of(START_MINUTE, START_MINUTE + 1, START_MINUTE + 2);

        assertThat(store.changesOf(() -> assertThat(get(store.leases.release(store.shard(), minutes, store.node(1))))
                        .containsExactly(true, false, false)))
                .containsExactlyInAnyOrder("- lease:M+0 C:1", "- lease:M+0 ttl");
        assertThat(store.changesOf(() -> assertThat(get(store.leases.release(store.shard(), minutes, store.node(1))))
                        .as("a repeat")
                        .containsOnly(false)))
                .isEmpty();
    }

    @Test
    @Replies({"break OK", "break LOST"})
    void shouldBreakOnlyTheLeasesOfTheNamedNode() {
        store.claim(0, 1);
        store.claim(1, 11);
        get(store.leases.claimByScript(store.bucket(2), new NodeId("another-client", 1), LEASE));
        List<Long> minutes = List.of(START_MINUTE, START_MINUTE + 1, START_MINUTE + 2, START_MINUTE + 3);

        assertThat(store.changesOf(() -> assertThat(get(store.leases.breakLeases(store.shard(), minutes, "1")))
                        .containsExactly(true, false, true, false)))
                .containsExactlyInAnyOrder(
                        "- lease:M+0 C:1", "- lease:M+0 ttl", "- lease:M+2 another-client:1", "- lease:M+2 ttl");
        assertThat(store.changesOf(() -> assertThat(get(store.leases.breakLeases(store.shard(), minutes, "1")))
                        .as("a repeat")
                        .containsOnly(false)))
                .isEmpty();
    }

    @Test
    void shouldEndALeaseByItselfAndLeaveNothingBehind() {
        store.schedule("a", 0);
        get(store.leases.claim(store.bucket(0), store.node(1), Duration.ofMillis(50)));

        await("the lease ends").until(() -> leaseMs(0) == -2);

        assertThat(store.pop(0, 1, 1, 10).status()).isEqualTo(Handout.Status.FENCED);
        assertThat(store.image().toString()).doesNotContain("lease");
        assertThat(store.redis.texts("KEYS", "*redisson*")).isEmpty();
        store.claim(0, 2);
        assertThat(PopIT.ids(store.pop(0, 2, 1, 10))).containsExactly("a");
    }

    @Test
    @Replies("look")
    void shouldLookAtAShard() {
        List<Long> asked = List.of(START_MINUTE, START_MINUTE + 1, START_MINUTE + 9);
        assertThat(get(store.leases.look(store.shard(), START_MINUTE + 1, asked)))
                .isEqualTo(new ShardLook(
                        START_MS,
                        -1,
                        0,
                        -1,
                        List.of(),
                        List.of(
                                new ShardLook.Bucket(-1, -2),
                                new ShardLook.Bucket(-1, -2),
                                new ShardLook.Bucket(-1, -2))));
        HandedJob job = store.inFlight("a", "b").get(0);
        store.now(START_MS + 1);
        get(store.jobs.extend(store.shard(), List.of(job.receipt()), TestStore.VISIBILITY));
        store.schedule("c", 400);
        store.schedule("d", 200);
        store.schedule("e", 60_000);
        store.schedule("f", 600_000);
        store.schedule("g", 6_000_000);
        ShardImage before = store.image();

        ShardLook look = get(store.leases.look(store.shard(), START_MINUTE + 1, asked));

        assertThat(look.nowMs()).isEqualTo(START_MS + 1);
        assertThat(look.deadlineMs()).isEqualTo(START_MS + 30_000);
        assertThat(look.inFlight()).isEqualTo(2);
        assertThat(look.minutes()).containsExactly(START_MINUTE, START_MINUTE + 1);
        assertThat(look.nextMinute()).isEqualTo(START_MINUTE + 10);
        assertThat(look.buckets()).hasSize(3);
        assertThat(look.buckets().get(0).firstDueMs()).isEqualTo(START_MS + 200);
        assertThat(look.buckets().get(0).leaseMs()).isBetween(1L, LEASE.toMillis());
        assertThat(look.buckets().get(1)).isEqualTo(new ShardLook.Bucket(START_MS + 60_000, -2));
        assertThat(look.buckets().get(2)).isEqualTo(new ShardLook.Bucket(-1, -2));
        assertThat(store.image().since(before)).isEmpty();
    }

    @Test
    void shouldLookAtTheOldestHundredMinutes() {
        for (int minute = 0; minute < 120; minute++) {
            store.schedule("job-" + minute, minute * 60_000L);
        }

        ShardLook look = get(store.leases.look(store.shard(), START_MINUTE + 110, List.of()));

        assertThat(look.minutes())
                .hasSize(100)
                .isSorted()
                .startsWith(START_MINUTE)
                .endsWith(START_MINUTE + 99);
        assertThat(look.nextMinute()).isEqualTo(START_MINUTE + 111);
    }

    private long leaseMs(long minutesAhead) {
        return store.redis.number("PTTL", store.keys.lease(store.bucket(minutesAhead)));
    }
}

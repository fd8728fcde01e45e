package io.minutehand.loadtest.fault;

import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisCommands;
import java.time.Duration;

/** Row 19: a slow link and a server that stands still: first for less than the nodes' trust in their leases, then for longer. */
final class SlowRedis implements FaultRow {
    private static final Duration REPLY_LIMIT = Duration.ofSeconds(60);

    private long lostBefore;
    private long recoveredBefore;

    @Override
    public String number() {
        return "19";
    }

    @Override
    public String fault() {
        return "Redis slow: 300 ms latency, DEBUG SLEEP, CLIENT PAUSE; at last longer than the lease";
    }

    @Override
    public String passLine() {
        return "nothing lost; no lease lost and no job recovered while the pause is shorter than the trust; duplicates <="
                + " jobs in flight at the long pause";
    }

    @Override
    public RunSettings settings(boolean full) {
        // The pauses are made for the default lease.
        return (full
                        ? RunSettings.of(true).withLoad(12_000, Duration.ofSeconds(60))
                        : RunSettings.of(false).withDefaultTimes().withLoad(3_000, Duration.ofSeconds(20)))
                .withProxies();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        boolean full = arena.settings().full();
        int pauseMs = full ? 3_000 : 2_000;
        arena.untilLoad(0.05);
        for (LinkProxy link : arena.links()) {
            link.delay(Duration.ofMillis(150), Duration.ofMillis(150));
        }
        arena.event("links", "slow", "150 ms each way");
        Thread.sleep(full ? 10_000 : 3_000);
        arena.links().forEach(LinkProxy::pass);
        try (RedisCommands redis = RedisCommands.connect(arena.redis().uri(), REPLY_LIMIT)) {
            arena.event("redis", "sleeps", pauseMs + " ms");
            redis.call("DEBUG", "SLEEP", pauseMs / 1_000);
            Thread.sleep(2_500);
            for (String mode : new String[] {"ALL", "WRITE"}) {
                arena.event("redis", "paused " + mode, pauseMs + " ms");
                redis.call("CLIENT", "PAUSE", pauseMs, mode);
                Thread.sleep(pauseMs + 2_500);
            }
            lostBefore = counted(arena, "lease_lost");
            recoveredBefore = counted(arena, "recovered");
            int longMs = full ? 12_000 : 8_000;
            arena.exposeAllSlots();
            arena.event("redis", "sleeps", longMs + " ms");
            redis.call("DEBUG", "SLEEP", longMs / 1_000);
        }
    }

    private static long counted(Arena arena, String counter) {
        return arena.fleet().workers().stream()
                .mapToLong(worker -> worker.status().count(counter))
                .sum();
    }

    @Override
    public void judge(Judge judge) {
        judge.equal("leases lost in the short pauses", 0L, lostBefore);
        judge.equal("jobs recovered in the short pauses", 0L, recoveredBefore);
        judge.duplicatesOfExposedOnly();
        judge.equal("attempts raised by it", 0L, judge.attemptsRaised());
    }
}

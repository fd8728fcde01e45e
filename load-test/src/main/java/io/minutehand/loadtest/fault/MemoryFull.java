package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.check.Lateness;
import io.minutehand.redis.RedisCommands;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.Map;

/** Row 25: Redis reaches maxmemory with noeviction, and is given more later. */
final class MemoryFull implements FaultRow {
    private static final int BALLAST_BYTES = 32_000_000;
    private static final long RECOVERS_MS = 10_000;

    private long fullUs;
    private long raisedUs;
    private long limitBytes;
    private long mostBytes;
    private long refusedAtRaise;
    private long firstAcceptedAfterMs = Long.MAX_VALUE;

    @Override
    public String number() {
        return "25";
    }

    @Override
    public String fault() {
        return "maxmemory reached, noeviction; raised later";
    }

    @Override
    public String passLine() {
        return "nothing lost; schedule answers STORE_FULL; pops and acks go on: lateness p99 <= 1 s meanwhile, no call of a"
                + " node fails; memory overshoot <= 5 %; schedule works again <= 10 s after the raise";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        // In the full form the load goes on over two minute boundaries.
        RunSettings settings =
                full ? RunSettings.of(true).withLoad(24_000, Duration.ofSeconds(150)) : RunSettings.of(false);
        return settings.withRedisConfig("maxmemory-policy noeviction\n");
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoadBetween(0.15, 0.2);
        try (RedisCommands redis = arena.commands()) {
            // So much that five percent of it are more than the buffers of the connections.
            redis.call("SETRANGE", "ballast", BALLAST_BYTES, "x");
            limitBytes = memory(redis);
            redis.call("CONFIG", "SET", "maxmemory", limitBytes);
            fullUs = arena.clock().nowUs();
            arena.event("redis", "full", "maxmemory " + limitBytes + " bytes");
            // Over two minute boundaries in the full form: new leases are taken while nothing may grow.
            long lastsMs = arena.settings().full() ? 125_000 : 3_000;
            long endNs = System.nanoTime() + lastsMs * 1_000_000;
            while (System.nanoTime() - endNs < 0) {
                mostBytes = Math.max(mostBytes, memory(redis));
                Thread.sleep(50);
            }
            refusedAtRaise = arena.load().answers(Status.STORE_FULL);
            long acceptedBefore = arena.load().accepted();
            redis.call("CONFIG", "SET", "maxmemory", 0);
            raisedUs = arena.clock().nowUs();
            arena.event("redis", "raised", refusedAtRaise + " calls answered STORE_FULL so far");
            arena.await(
                    "a job to be accepted after maxmemory was raised",
                    Duration.ofMillis(3 * RECOVERS_MS),
                    () -> arena.load().accepted() > acceptedBefore);
            firstAcceptedAfterMs = (arena.clock().nowUs() - raisedUs) / 1_000;
        }
    }

    private static long memory(RedisCommands redis) {
        Map<String, String> memory = redis.info("memory");
        return Long.parseLong(memory.getOrDefault("used_memory", "0"));
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("calls answered STORE_FULL", 1, refusedAtRaise);
        // A job that was refused at first came too late to be on time.
        Lateness meanwhile = judge.punctuality()
                .of(start -> start.dueUs() >= fullUs
                        && start.dueUs() < raisedUs
                        && !judge.arena().load().wasRefused(start.id()));
        judge.atLeast("starts while it was full", 1, meanwhile.count());
        judge.atMost("lateness p99 of these ms", 1_000 + judge.slackMs(), meanwhile.p99());
        judge.equal("calls of nodes that failed", 0L, judge.counted("store_errors"));
        judge.atMost("memory overshoot percent", 5, 100.0 * Math.max(0, mostBytes - limitBytes) / limitBytes);
        judge.atMost("ms until a job was accepted again", RECOVERS_MS, firstAcceptedAfterMs);
        judge.duplicatesAtMost(0);
    }
}

package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.check.Lateness;
import io.minutehand.redis.RedisCommands;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Row 25: Redis reaches maxmemory with noeviction, and is given more later. */
final class MemoryFull implements FaultRow {
    private static final int BALLAST_BYTES = 32_000_000;
    private static final long RECOVERS_MS = 10_000;

    /** Over two minute boundaries: new leases are taken while nothing may grow. */
    private static final long FULL_MS = 150_000;

    private static final long FULL_MS_IN_SHORT = 3_000;
    private static final int STORED = 400;

    private long fullUs;
    private long raisedUs;
    private long limitBytes;
    private long mostBytes;
    private long refusedAtRaise;
    private long firstAcceptedAfterMs = Long.MAX_VALUE;
    private List<String> nodesBefore = List.of();
    private List<String> nodesAfter = List.of();

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
        return "nothing lost; schedule answers STORE_FULL; beats, claims, pops, acks, retries and cancels go on to the end of"
                + " it: lateness p99 <= 1 s meanwhile, no call of a node fails, no node leaves; memory overshoot <= 5 %; schedule"
                + " works again <= 10 s after the raise";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        // In the full form the load goes on for longer than Redis is full.
        RunSettings settings =
                full ? RunSettings.of(true).withLoad(32_000, Duration.ofSeconds(200)) : RunSettings.of(false);
        return settings.withRedisConfig("maxmemory-policy noeviction\n");
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoadBetween(0.15, 0.2);
        long lastsMs = arena.settings().full() ? FULL_MS : FULL_MS_IN_SHORT;
        store(arena, lastsMs);
        nodesBefore = arena.nodeIds();
        try (RedisCommands redis = arena.commands()) {
            // So much that five percent of it are more than the buffers of the connections.
            redis.call("SETRANGE", "ballast", BALLAST_BYTES, "x");
            limitBytes = memory(redis);
            redis.call("CONFIG", "SET", "maxmemory", limitBytes);
            fullUs = arena.clock().nowUs();
            arena.event("redis", "full", "maxmemory " + limitBytes + " bytes");
            long endNs = System.nanoTime() + lastsMs * 1_000_000;
            while (System.nanoTime() - endNs < 0) {
                mostBytes = Math.max(mostBytes, memory(redis));
                Thread.sleep(50);
            }
            refusedAtRaise = arena.load().answers(Status.STORE_FULL);
            nodesAfter = arena.nodeIds();
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

    /** Jobs that come due all the while, for nothing can be scheduled then: most good, some to be retried, dead or cancelled. */
    private void store(Arena arena, long lastsMs) throws Exception {
        long firstMs = arena.clock().nowUs() / 1_000 + 1_000;
        for (int i = 0; i < STORED; i++) {
            Deed deed = new Deed(i % 20 == 7 ? Deed.Kind.FAIL_ONCE : i % 20 == 14 ? Deed.Kind.DIE : Deed.Kind.WORK, 1);
            arena.load().offer("stored-" + i, deed, 1_000 * (firstMs + i * lastsMs / STORED), i % 20 == 19);
        }
        arena.await(
                "the jobs to be stored",
                Duration.ofSeconds(30),
                () -> arena.load().areAllAnswered());
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
        judge.atLeast("starts while it was full", STORED / 2, meanwhile.count());
        judge.equal("nodes at its end", nodesBefore, nodesAfter);
        judge.equal("leases lost", 0L, judge.counted("lease_lost"));
        judge.atLeast("retries counted", STORED / 20, judge.counted("retried"));
        judge.atLeast("cancelled", STORED / 40, judge.end().cancelled());
        judge.atMost("lateness p99 of these ms", 1_000 + judge.slackMs(), meanwhile.p99());
        judge.equal("calls of nodes that failed", 0L, judge.counted("store_errors"));
        judge.atMost("memory overshoot percent", 5, 100.0 * Math.max(0, mostBytes - limitBytes) / limitBytes);
        judge.atMost("ms until a job was accepted again", RECOVERS_MS, firstAcceptedAfterMs);
        judge.duplicatesAtMost(0);
    }
}

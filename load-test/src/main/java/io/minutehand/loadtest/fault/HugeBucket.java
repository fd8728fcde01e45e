package io.minutehand.loadtest.fault;

import io.minutehand.redis.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Row 29: very many jobs are due at the same instant. */
final class HugeBucket implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    public String number() {
        return "29";
    }

    @Override
    public String fault() {
        return "a huge number of jobs due at the same instant";
    }

    @Override
    public String passLine() {
        return "nothing lost; scripts slower than 20 ms <= 0.1 %; backlog gone <= 60 s; duplicates 0";
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full)
                .withSlots(64)
                .withRedisConfig("slowlog-log-slower-than 20000\nslowlog-max-len 1000\n");
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int count = arena.settings().full() ? 60_000 : 10_000;
        arena.untilLoad(0.1);
        long dueUs = (arena.clock().nowUs() + (arena.settings().full() ? 20_000_000L : 5_000_000L)) / 1_000 * 1_000;
        for (int i = 0; i < count; i++) {
            arena.load().offer("huge-" + i, Deed.work(0), dueUs);
        }
        arena.event("load", "scheduled", count + " jobs for one instant");
        arena.await("them to be accepted", LIMIT, () -> arena.load().areAllAnswered());
        arena.untilLoad(1);
    }

    @Override
    public void judge(Judge judge) {
        long slow = 0;
        long calls;
        try (RedisCommands redis = judge.arena().commands()) {
            if (redis.call("SLOWLOG", "GET", 1_000) instanceof List<?> entries) {
                slow = entries.stream()
                        .filter(entry -> entry instanceof List<?> fields && isScript(fields.get(3)))
                        .count();
            }
            // calls=4711,usec=...
            String stats = redis.info("commandstats").getOrDefault("cmdstat_evalsha", "calls=0,");
            calls = Long.parseLong(stats.substring(stats.indexOf('=') + 1, stats.indexOf(',')));
        }
        judge.atLeast("script calls", 1_000, calls);
        // By the wall clock: a server that does not get its core for a while looks slow now and then.
        judge.atMost(
                "percent of them slower than 20 ms", judge.arena().settings().full() ? 0.1 : 1, 100.0 * slow / calls);
        judge.duplicatesAtMost(0);
        judge.equal("attempts raised", 0L, judge.attemptsRaised());
    }

    private static boolean isScript(Object words) {
        return words instanceof List<?> list
                && !list.isEmpty()
                && list.get(0) instanceof byte[] command
                && new String(command, StandardCharsets.UTF_8).startsWith("EVAL");
    }
}

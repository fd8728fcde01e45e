package io.minutehand.loadtest.fault;

import java.time.Duration;

/** Row 11: the Redis process is killed and started again with its append-only file, synced every second. */
final class RedisKilled implements FaultRow {
    private long longestOutageMs;

    @Override
    public String number() {
        return "11";
    }

    @Override
    public String fault() {
        return "kill -9 of Redis, restart, AOF everysec";
    }

    @Override
    public String passLine() {
        return "nothing acknowledged is lost; late <= outage + 3 s";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public void strike(Arena arena) throws Exception {
        boolean full = arena.settings().full();
        int times = full ? 5 : 2;
        for (int i = 0; i < times; i++) {
            double part = 0.75 / times;
            arena.untilLoadBetween(0.15 + i * part, 0.15 + i * part + part / 4);
            arena.exposeAllSlots();
            longestOutageMs = Math.max(longestOutageMs, arena.restartRedis(Duration.ofMillis(full ? 3_000 : 1_000)));
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.latenessAtMostMs(longestOutageMs + 3_000);
        judge.duplicatesOfExposedOnly();
    }
}

package io.minutehand.loadtest.figures;

import io.minutehand.redis.RedisCommands;
import java.util.Map;

/**
 * What a Redis server has executed.
 *
 * @param calls commands that clients sent
 * @param commands all commands, those inside scripts too
 */
record Counts(long calls, long commands) {
    /** Commands that only clients send here: all others run inside scripts. */
    private static final String SENT =
            "evalsha|eval|ping|info|client\\|.*|hello|auth|select|ssubscribe|sunsubscribe|publish|script\\|.*";

    static Counts of(RedisCommands redis) {
        long calls = 0;
        long commands = 0;
        for (Map.Entry<String, String> line : redis.info("commandstats").entrySet()) {
            String name = line.getKey().substring("cmdstat_".length());
            long count = Long.parseLong(line.getValue().replaceAll("calls=(\\d+),.*", "$1"));
            commands += count;
            calls += name.matches(SENT) ? count : 0;
        }
        return new Counts(calls, commands);
    }

    Counts since(Counts earlier) {
        return new Counts(calls - earlier.calls, commands - earlier.commands);
    }
}

package io.minutehand.loadtest.lab;

import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisReplyException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets Redis end the growth of its hash tables, which it spreads over later calls, and which would else be paid by what is
 * measured.
 *
 * <p>The table of a hash or sorted set moves on by at least one slot with each look for an element, and by itself not at
 * all. While a table grows, the old one has no more slots than there are elements; so as many looks as there are elements
 * end it. The looks are for elements that do not exist, a thousand in one HMGET or ZMSCORE, which is allowed everywhere.
 * Where DEBUG is allowed as well, DEBUG HTSTATS-KEY tells whether any table still grows. A fork for a snapshot or a
 * rewritten file may hold tables back: it is waited for first. For one thread.
 *
 * @param tables hashes and sorted sets that were seen to
 * @param stillGrowing how many of them still grow; null where DEBUG is refused
 */
record Rehash(long tables, @Nullable Long stillGrowing) {
    private static final int LOOKS = 1_000;
    private static final long FORK_LIMIT_NS = TimeUnit.MINUTES.toNanos(10);
    private static final long FORK_LOOK_MS = 100;

    /** @throws IllegalStateException if a fork does not end within 10 minutes */
    static Rehash end(List<RedisCommands> servers) throws InterruptedException {
        long tables = 0;
        Long growing = 0L;
        for (RedisCommands server : servers) {
            awaitFork(server);
            for (String type : List.of("hash", "zset")) {
                for (String key : keys(server, type)) {
                    touch(server, type, key);
                    tables++;
                    Boolean grows = growing == null ? null : grows(server, key);
                    growing = grows == null || growing == null ? null : (Long) (growing + (grows ? 1 : 0));
                }
            }
        }
        return new Rehash(tables, growing);
    }

    private static void awaitFork(RedisCommands server) throws InterruptedException {
        long deadlineNs = System.nanoTime() + FORK_LIMIT_NS;
        while (server.info("persistence").entrySet().stream()
                .anyMatch(field -> (field.getKey().equals("rdb_bgsave_in_progress")
                                || field.getKey().equals("aof_rewrite_in_progress"))
                        && field.getValue().equals("1"))) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException("Redis has been writing a snapshot, or its file anew, for 10 minutes");
            }
            Thread.sleep(FORK_LOOK_MS);
        }
    }

    private static List<String> keys(RedisCommands server, String type) {
        List<String> keys = new ArrayList<>();
        String cursor = "0";
        do {
            Object reply = server.call("SCAN", cursor, "COUNT", 1_000, "TYPE", type);
            if (!(reply instanceof List<?> step)
                    || !(step.get(0) instanceof byte[] next)
                    || !(step.get(1) instanceof List<?> found)) {
                throw new IllegalStateException("SCAN replies " + reply);
            }
            cursor = text(next);
            found.forEach(key -> keys.add(text((byte[]) key)));
        } while (!cursor.equals("0"));
        return keys;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static void touch(RedisCommands server, String type, String key) {
        boolean hash = type.equals("hash");
        long elements = server.number(hash ? "HLEN" : "ZCARD", key);
        Object[] looks = new Object[LOOKS + 2];
        looks[0] = hash ? "HMGET" : "ZMSCORE";
        looks[1] = key;
        for (int i = 0; i < LOOKS; i++) {
            // No id has a question mark.
            looks[i + 2] = "?" + i;
        }
        for (long done = 0; done < elements; done += LOOKS) {
            server.call(looks);
        }
    }

    /** Null if DEBUG is refused. */
    static @Nullable Boolean grows(RedisCommands server, String key) {
        try {
            return String.valueOf(server.text("DEBUG", "HTSTATS-KEY", key)).contains("rehashing target");
        } catch (RedisReplyException refused) {
            // A small one has no table at all.
            return String.valueOf(refused.getMessage()).contains("not represented using an hash table") ? false : null;
        }
    }
}

package io.minutehand.worker;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** Changes stored records of the shared server by hand: what other versions and many crashes would leave. */
final class Records {
    private static final int VERSION_AT = 0;
    private static final int DELIVERY_AT = 4;

    private Records() {}

    /** Sets how often a job was handed out, at most 255. */
    static void delivered(Jobs jobs, String id, int times) {
        set(jobs, id, DELIVERY_AT + 1, times);
    }

    /** Sets the version of a job's record. */
    static void version(Jobs jobs, String id, int version) {
        set(jobs, id, VERSION_AT, version);
    }

    /** Cuts a job's record to its first bytes. */
    static void cut(Jobs jobs, String id, int bytes) {
        edit(jobs, id, record -> Arrays.copyOf(record, bytes));
    }

    /** As {@link #delivered(Jobs, String, int)}, on another server. */
    static void delivered(RedisCommands commands, Jobs jobs, String id, int times) {
        edit(commands, jobs, id, record -> {
            record[DELIVERY_AT + 1] = (byte) times;
            return record;
        });
    }

    private static void set(Jobs jobs, String id, int at, int value) {
        edit(jobs, id, record -> {
            record[at] = (byte) value;
            return record;
        });
    }

    private static void edit(Jobs jobs, String id, UnaryOperator<byte[]> change) {
        try (RedisCommands commands = SharedRedis.get().connect()) {
            edit(commands, jobs, id, change);
        }
    }

    private static void edit(RedisCommands commands, Jobs jobs, String id, UnaryOperator<byte[]> change) {
        String member = ShardMap.memberOf(id);
        String key = jobs.connection().keys().records(jobs.shardOf(id), member);
        commands.call("HSET", key, member, change.apply((byte[]) commands.call("HGET", key, member)));
    }
}

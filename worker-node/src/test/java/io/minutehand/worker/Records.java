package io.minutehand.worker;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;

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

    private static void set(Jobs jobs, String id, int at, int value) {
        String member = ShardMap.memberOf(id);
        String key = jobs.connection().keys().records(jobs.shardOf(id), member);
        try (RedisCommands commands = SharedRedis.get().connect()) {
            byte[] record = (byte[]) commands.call("HGET", key, member);
            record[at] = (byte) value;
            commands.call("HSET", key, member, record);
        }
    }
}

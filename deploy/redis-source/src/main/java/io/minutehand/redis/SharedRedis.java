package io.minutehand.redis;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Redis for all tests of a JVM, started at the first call and gone with the JVM. Tests keep apart by key names of
 * their own, or {@link #flush()} before they start.
 */
public final class SharedRedis {

    private static final Logger LOG = LoggerFactory.getLogger(SharedRedis.class);

    /** Marks a Redis that tests may empty. Only a server at an address needs it: the others start empty. */
    private static final String MARKER = "minutehand:tests-may-flush-this";

    private static @Nullable RedisInstance shared;

    private SharedRedis() {}

    /**
     * The shared server, with an append-only file off and DEBUG allowed. Do not close it.
     *
     * @throws IllegalStateException if no source is available, or if the server at the configured address holds data
     *     that is not from tests
     */
    public static synchronized RedisInstance get() {
        RedisInstance instance = shared;
        if (instance == null) {
            instance = RedisSource.forTests().open(RedisSettings.defaults().withDebugCommand());
            try {
                claim(instance);
            } catch (RuntimeException e) {
                instance.close();
                throw e;
            }
            LOG.info("redis: tests of this JVM run against {}", instance.describe());
            shared = instance;
        }
        return instance;
    }

    /** Empties all databases and the script cache of the shared server; loaded functions go too. */
    public static void flush() {
        RedisInstance instance = get();
        try (RedisCommands commands = instance.connect()) {
            commands.call("FLUSHALL");
            commands.call("SCRIPT", "FLUSH");
            commands.call("FUNCTION", "FLUSH");
            mark(instance, commands);
        }
    }

    /** Refuses a server with somebody's data in it, before any test can flush it. */
    static void claim(RedisInstance instance) {
        if (instance.kind() != RedisSourceKind.ADDRESS) {
            return;
        }
        try (RedisCommands commands = instance.connect()) {
            boolean empty = commands.info("keyspace").isEmpty();
            if (!empty && commands.number("EXISTS", MARKER) == 0) {
                throw new IllegalStateException(
                        "The " + instance.describe() + " holds data, and tests would delete it; "
                                + "give an empty server in " + RedisSource.ADDRESS_VARIABLE);
            }
            mark(instance, commands);
        }
    }

    private static void mark(RedisInstance instance, RedisCommands commands) {
        if (instance.kind() == RedisSourceKind.ADDRESS) {
            commands.call("SET", MARKER, "1");
        }
    }
}

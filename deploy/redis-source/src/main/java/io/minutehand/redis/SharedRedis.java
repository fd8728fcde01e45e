package io.minutehand.redis;

import io.minutehand.source.SourceKind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Redis for all tests of a JVM, started at the first call and gone with the JVM. Tests keep apart by key names of
 * their own, or {@link #flush()} before they start. It is a single server; with {@code minutehand.test.deployment=cluster}
 * it is a Cluster of three primaries that is started here.
 */
public final class SharedRedis {

    private static final Logger LOG = LoggerFactory.getLogger(SharedRedis.class);

    /** System property: {@code single} (default) or {@code cluster}. */
    public static final String DEPLOYMENT_PROPERTY = "minutehand.test.deployment";

    /** Marks a Redis that tests may empty. Only a server at an address needs it: the others start empty. */
    private static final String MARKER = "minutehand:tests-may-flush-this";

    private static final int PRIMARIES = 3;

    private static @Nullable RedisInstance shared;

    private SharedRedis() {}

    /**
     * A Redis for one test that breaks it: a {@link RedisServer}, or a {@link RedisCluster} where that is what tests run
     * against. The caller closes it.
     *
     * @throws IllegalStateException if it does not start
     */
    public static RedisInstance another() {
        return isCluster() ? RedisCluster.start(PRIMARIES, 0) : RedisServer.start();
    }

    /**
     * True if the tests of this JVM run against a Cluster.
     *
     * @throws IllegalStateException if the property names something else than the two
     */
    public static boolean isCluster() {
        String deployment = System.getProperty(DEPLOYMENT_PROPERTY, "single");
        if (!deployment.equals("single") && !deployment.equals("cluster")) {
            throw new IllegalStateException(
                    DEPLOYMENT_PROPERTY + "=" + deployment + " is unknown; give single or cluster");
        }
        return deployment.equals("cluster");
    }

    /**
     * The shared server, with an append-only file off and DEBUG allowed. Do not close it.
     *
     * @throws IllegalStateException if no source is available, or if the server at the configured address holds data
     *     that is not from tests
     */
    public static synchronized RedisInstance get() {
        RedisInstance instance = shared;
        if (instance == null) {
            RedisSettings settings = RedisSettings.defaults().withDebugCommand();
            instance = isCluster()
                    ? RedisCluster.start(RedisBinary.locate(), PRIMARIES, 0, settings)
                    : RedisSource.forTests().open(settings);
            try {
                claim(instance);
            } catch (RuntimeException e) {
                instance.close();
                throw e;
            }
            LOG.info("redis: tests of this JVM run against {}", instance.describe());
            shared = instance;
        }
        (isCluster() ? Deployment.CLUSTER : Deployment.SINGLE).note();
        return instance;
    }

    /** Empties all databases and the script cache of the shared server; loaded functions go too. */
    public static void flush() {
        RedisInstance instance = get();
        instance.callEach("FLUSHALL");
        instance.callEach("SCRIPT", "FLUSH");
        instance.callEach("FUNCTION", "FLUSH");
        try (RedisCommands commands = instance.connect()) {
            mark(instance, commands);
        }
    }

    /** Refuses a server with somebody's data in it, before any test can flush it. */
    static void claim(RedisInstance instance) {
        if (instance.kind() != SourceKind.ADDRESS) {
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
        if (instance.kind() == SourceKind.ADDRESS) {
            commands.call("SET", MARKER, "1");
        }
    }
}

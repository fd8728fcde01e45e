package io.minutehand.orders;

import io.minutehand.core.store.RedisOptions;
import java.time.Duration;
import java.util.Map;

/**
 * What the service and the workers must agree on. It reaches workers by their environment, for arguments show in process lists.
 *
 * @param redis URI with credentials
 * @param namespace prefix of all keys in Redis
 * @param database JDBC URL with credentials
 * @param delay from an order to its close
 * @param scan from one pass of the reconciler over all open orders to the next
 */
record OrderSettings(String redis, String namespace, String database, Duration delay, Duration scan) {
    private static final String PREFIX = "MINUTEHAND_ORDERS_";

    /** Beyond the delay and a pass: the clocks of the database and of Redis may differ. */
    private static final Duration MARGIN = Duration.ofSeconds(10);

    RedisOptions redisOptions() {
        return RedisOptions.of(redis).withNamespace(namespace);
    }

    /** How far ahead the reconciler looks: each open order is seen before it is due, whenever its job was lost. */
    Duration lookAhead() {
        return delay.plus(scan).plus(MARGIN);
    }

    Map<String, String> toEnvironment() {
        return Map.of(
                PREFIX + "REDIS",
                redis,
                PREFIX + "NAMESPACE",
                namespace,
                PREFIX + "DATABASE",
                database,
                PREFIX + "DELAY",
                delay.toString(),
                PREFIX + "SCAN",
                scan.toString());
    }

    /** @throws IllegalStateException when this process was not started with {@link #toEnvironment} */
    static OrderSettings fromEnvironment(Map<String, String> environment) {
        return new OrderSettings(
                required(environment, "REDIS"),
                required(environment, "NAMESPACE"),
                required(environment, "DATABASE"),
                Duration.parse(required(environment, "DELAY")),
                Duration.parse(required(environment, "SCAN")));
    }

    private static String required(Map<String, String> environment, String name) {
        String value = environment.get(PREFIX + name);
        if (value == null) {
            throw new IllegalStateException(PREFIX + name + " is not set; the order demo starts its workers itself");
        }
        return value;
    }

    /** Without the credentials. */
    @Override
    public String toString() {
        return "OrderSettings[namespace=" + namespace + " delay=" + delay + " scan=" + scan + "]";
    }
}

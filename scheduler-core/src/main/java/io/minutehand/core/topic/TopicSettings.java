package io.minutehand.core.topic;

import io.minutehand.core.job.Allowed;
import io.minutehand.core.job.Limits;
import io.minutehand.core.job.RetryPolicy;
import java.time.Duration;
import java.util.Objects;

/**
 * How the jobs of a topic are kept and handled; stored in Redis and the same for every process. Durations are cut to milliseconds, as they are
 * stored. Immutable.
 *
 * @param shards shards of the topic, 1 to {@link Limits#SHARDS}
 * @param visibility how long a job may stay with a node that does not extend it, 1 s or more
 * @param handlerTimeout how long a handler may run, 1 ms or more
 * @param retention how long a tombstone stays: zero (none), or 12 s or more, so that it outlives every repeat of a call
 * @param deadLimit dead letters kept, over all shards, 1 or more (each shard keeps its share, rounded up)
 * @param deadAge how long a dead letter is kept, 1 s or more
 * @param delivery how often a handler may run
 * @param retry what follows a failed attempt
 */
public record TopicSettings(
        int shards,
        Duration visibility,
        Duration handlerTimeout,
        Duration retention,
        int deadLimit,
        Duration deadAge,
        Delivery delivery,
        RetryPolicy retry) {
    /** A tombstone that goes earlier could let a repeated call store a job twice: a router's default deadline plus 2 s. */
    public static final Duration SHORTEST_RETENTION = Duration.ofSeconds(12);

    private static final TopicSettings DEFAULTS = new TopicSettings(
            8,
            Duration.ofSeconds(30),
            Duration.ofMinutes(5),
            Duration.ofSeconds(60),
            100_000,
            Duration.ofDays(30),
            Delivery.AT_LEAST_ONCE,
            RetryPolicy.quadratic());

    /**
     * Checks the ranges above.
     *
     * @throws IllegalArgumentException that names the setting, its value and what is allowed
     */
    public TopicSettings {
        Objects.requireNonNull(visibility, "visibility");
        Objects.requireNonNull(handlerTimeout, "handlerTimeout");
        Objects.requireNonNull(retention, "retention");
        Objects.requireNonNull(deadAge, "deadAge");
        Objects.requireNonNull(delivery, "delivery");
        Objects.requireNonNull(retry, "retry");
        Allowed.requireWithin("topic setting shards", shards, 1, Limits.SHARDS);
        Allowed.requireWithin("topic setting visibility", visibility, Duration.ofSeconds(1), Limits.HORIZON);
        Allowed.requireWithin("topic setting handlerTimeout", handlerTimeout, Duration.ofMillis(1), Limits.HORIZON);
        if (!retention.isZero()) {
            Allowed.require(
                    retention.compareTo(SHORTEST_RETENTION) >= 0 && retention.compareTo(Limits.HORIZON) <= 0,
                    "topic setting retention",
                    retention,
                    "0 (no tombstones), and " + SHORTEST_RETENTION + " to " + Limits.HORIZON);
        }
        Allowed.require(deadLimit >= 1, "topic setting deadLimit", deadLimit, "1 and more");
        Allowed.requireWithin("topic setting deadAge", deadAge, Duration.ofSeconds(1), Limits.HORIZON);
        visibility = Duration.ofMillis(visibility.toMillis());
        handlerTimeout = Duration.ofMillis(handlerTimeout.toMillis());
        retention = Duration.ofMillis(retention.toMillis());
        deadAge = Duration.ofMillis(deadAge.toMillis());
    }

    /** 8 shards, 30 s visibility, 5 min handler time-out, 60 s retention, 100,000 dead letters for 30 days, at least once, n * n s x 5. */
    public static TopicSettings defaults() {
        return DEFAULTS;
    }

    /** Dead letters that each shard keeps. */
    public int deadLimitPerShard() {
        return (int) (((long) deadLimit + shards - 1) / shards);
    }

    public TopicSettings withShards(int value) {
        return new TopicSettings(value, visibility, handlerTimeout, retention, deadLimit, deadAge, delivery, retry);
    }

    public TopicSettings withVisibility(Duration value) {
        return new TopicSettings(shards, value, handlerTimeout, retention, deadLimit, deadAge, delivery, retry);
    }

    public TopicSettings withHandlerTimeout(Duration value) {
        return new TopicSettings(shards, visibility, value, retention, deadLimit, deadAge, delivery, retry);
    }

    public TopicSettings withRetention(Duration value) {
        return new TopicSettings(shards, visibility, handlerTimeout, value, deadLimit, deadAge, delivery, retry);
    }

    public TopicSettings withDeadLimit(int value) {
        return new TopicSettings(shards, visibility, handlerTimeout, retention, value, deadAge, delivery, retry);
    }

    public TopicSettings withDeadAge(Duration value) {
        return new TopicSettings(shards, visibility, handlerTimeout, retention, deadLimit, value, delivery, retry);
    }

    public TopicSettings withDelivery(Delivery value) {
        return new TopicSettings(shards, visibility, handlerTimeout, retention, deadLimit, deadAge, value, retry);
    }

    public TopicSettings withRetry(RetryPolicy value) {
        return new TopicSettings(shards, visibility, handlerTimeout, retention, deadLimit, deadAge, delivery, value);
    }
}

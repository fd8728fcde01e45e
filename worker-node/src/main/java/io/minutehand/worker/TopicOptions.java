package io.minutehand.worker;

import io.minutehand.core.job.Job;
import io.minutehand.core.job.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How one node handles one topic; what is not set follows the topic's settings in Redis. Immutable.
 *
 * @param concurrency handlers of the topic at once on this node, 1 or more; 0 = as many as the node has slots
 * @param retry policy in place of the topic's, or null
 * @param timeout handler time-out in place of the topic's, or null
 * @param onDead told of each dead letter that this node made, on a handler thread; what it throws is logged
 */
public record TopicOptions(
        int concurrency,
        @Nullable RetryPolicy retry,
        @Nullable Duration timeout,
        @Nullable BiConsumer<Job, Throwable> onDead) {
    private static final TopicOptions DEFAULTS = new TopicOptions(0, null, null, null);

    /**
     * Checks the ranges above.
     *
     * @throws IllegalArgumentException that names the option and its value
     */
    public TopicOptions {
        if (concurrency < 0) {
            throw new IllegalArgumentException("concurrency=" + concurrency + ", allowed is 0 (all slots) or more");
        }
        if (timeout != null && timeout.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("timeout=" + timeout + ", allowed is 1 ms or more");
        }
    }

    /** Everything as the topic says. */
    public static TopicOptions defaults() {
        return DEFAULTS;
    }

    public TopicOptions concurrency(int value) {
        return new TopicOptions(value, retry, timeout, onDead);
    }

    public TopicOptions retry(RetryPolicy value) {
        return new TopicOptions(concurrency, Objects.requireNonNull(value, "retry"), timeout, onDead);
    }

    public TopicOptions timeout(Duration value) {
        return new TopicOptions(concurrency, retry, Objects.requireNonNull(value, "timeout"), onDead);
    }

    public TopicOptions onDead(BiConsumer<Job, Throwable> value) {
        return new TopicOptions(concurrency, retry, timeout, Objects.requireNonNull(value, "onDead"));
    }
}

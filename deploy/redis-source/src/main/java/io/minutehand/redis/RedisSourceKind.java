package io.minutehand.redis;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Where a Redis comes from. The {@link #label()} is what settings, logs and reports call it. */
public enum RedisSourceKind {
    /** A server that runs already and that nobody here started. */
    ADDRESS,
    /** A container that Testcontainers starts. */
    DOCKER,
    /** A process of the {@code redis-server} or {@code valkey-server} that is installed on this machine. */
    PATH,
    /** A process of the binary that the embedded-redis jar carries. For tests and demos only. */
    EMBEDDED;

    /** The name in settings and reports: {@code address}, {@code docker}, {@code path} or {@code embedded}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The kind with this label.
     *
     * @throws IllegalArgumentException if there is none; the message lists the labels
     */
    public static RedisSourceKind ofLabel(String label) {
        for (RedisSourceKind kind : values()) {
            if (kind.label().equals(label)) {
                return kind;
            }
        }
        throw new IllegalArgumentException(
                RedisSource.SOURCE_VARIABLE + "=" + label + " is not a Redis source; use one of "
                        + Arrays.stream(values()).map(RedisSourceKind::label).collect(Collectors.joining(", ")));
    }
}

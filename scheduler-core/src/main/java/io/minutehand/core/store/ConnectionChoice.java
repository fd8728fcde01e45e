package io.minutehand.core.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where the connection of a router, a node or a reconciler comes from: a Redis to connect to, or a connection of the caller's, who closes it. Not
 * thread-safe.
 */
public final class ConnectionChoice {
    private @Nullable RedisOptions redis;
    private @Nullable StoreConnection given;
    private @Nullable String namespace;

    /** Connects to this Redis. */
    public void redis(RedisOptions options) {
        this.redis = Objects.requireNonNull(options, "options");
    }

    /** Takes a connection of the caller's. */
    public void connection(StoreConnection own) {
        this.given = Objects.requireNonNull(own, "connection");
    }

    /** The prefix of all keys, before that of the options. */
    public void namespace(String value) {
        this.namespace = Objects.requireNonNull(value, "namespace");
    }

    /** Whether {@link #open} makes the connection, so that whoever called it closes it. */
    public boolean isOurs() {
        return given == null;
    }

    /**
     * The connection.
     *
     * @param user who wants it, for messages
     * @throws IllegalArgumentException when no Redis was named, or a connection and also what a connection has already
     * @throws StoreException when Redis refuses or cannot be reached
     */
    public StoreConnection open(String user) {
        RedisOptions options = redis;
        StoreConnection own = given;
        if (own == null) {
            if (options == null) {
                throw new IllegalArgumentException(
                        user + " does not know where Redis is; call redis(uri), or give it a connection");
            }
            return StoreConnection.open(namespace == null ? options : options.withNamespace(namespace));
        }
        if (options != null) {
            throw new IllegalArgumentException(user + " was given a Redis and also a connection; give it one of them");
        }
        if (namespace != null) {
            throw new IllegalArgumentException(user + " was given namespace=" + namespace
                    + ", but the connection that it was given has one already: "
                    + own.keys().namespace());
        }
        return own;
    }
}

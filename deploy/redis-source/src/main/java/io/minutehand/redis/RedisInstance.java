package io.minutehand.redis;

import io.minutehand.source.SourceKind;
import java.util.List;

/**
 * A Redis that answers, a single server or a Cluster, whoever runs it. Closing ends it if it was started here, and else
 * changes nothing.
 */
public interface RedisInstance extends AutoCloseable {

    /**
     * Address with credentials: {@code redis://[user][:password]@host:port}, of a Cluster
     * {@code redis+cluster://:password@host:port,host:port}. Not for logs.
     */
    String uri();

    /** Where this Redis comes from. */
    SourceKind kind();

    /** Version, such as {@code 7.0.15}. A program is asked for its own, a running Valkey names the Redis that it equals. */
    String version();

    /** One line for people: source, version and address, without credentials. */
    String describe();

    /**
     * Opens a connection of its own to look inside. The caller closes it. On a Cluster a command goes to the server of its
     * key; one without a key goes to one of them.
     *
     * @throws java.io.UncheckedIOException if the server does not answer
     */
    RedisCommands connect();

    /**
     * Sends a command to each server that takes writes: {@code KEYS}, {@code FLUSHALL} and the like know only what theirs
     * holds.
     *
     * @return the elements of the replies that are lists, as text
     * @throws RedisReplyException if one of them refuses; others may have done it
     */
    default List<String> callEach(Object... words) {
        try (RedisCommands commands = connect()) {
            return commands.texts(words);
        }
    }

    /** Ends what was started here. Calling it again does nothing. */
    @Override
    void close();
}

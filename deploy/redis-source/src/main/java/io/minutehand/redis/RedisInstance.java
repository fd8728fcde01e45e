package io.minutehand.redis;

/** A single Redis that answers, whoever runs it. Closing ends it if it was started here, and else changes nothing. */
public interface RedisInstance extends AutoCloseable {

    /** Address with credentials, {@code redis://[user][:password]@host:port}. Not for logs. */
    String uri();

    /** Where this Redis comes from. */
    RedisSourceKind kind();

    /** Version, such as {@code 7.0.15}. A program is asked for its own, a running Valkey names the Redis that it equals. */
    String version();

    /** One line for people: source, version and address, without credentials. */
    String describe();

    /**
     * Opens a connection of its own to look inside. The caller closes it.
     *
     * @throws java.io.UncheckedIOException if the server does not answer
     */
    RedisCommands connect();

    /** Ends what was started here. Calling it again does nothing. */
    @Override
    void close();
}

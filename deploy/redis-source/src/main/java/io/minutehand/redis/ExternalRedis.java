package io.minutehand.redis;

import io.minutehand.source.SourceKind;
import java.io.UncheckedIOException;

/** A server that runs already: reached, looked at, and left alone. */
final class ExternalRedis implements RedisInstance {

    private final String uri;
    private final String version;

    private ExternalRedis(String uri, String version) {
        this.uri = uri;
        this.version = version;
    }

    /**
     * Connects once and checks the version.
     *
     * @throws IllegalStateException if it is older than 7.0
     * @throws UncheckedIOException if no Redis answers
     */
    static ExternalRedis reach(String uri) {
        RedisAddress address = RedisAddress.parse(uri);
        try (RedisCommands commands = RedisCommands.connect(uri)) {
            String version = commands.info("server").getOrDefault("redis_version", "0");
            RedisBinary.requireRecent(version, "The server at " + address);
            return new ExternalRedis(uri, version);
        } catch (RedisGoneException e) {
            throw new UncheckedIOException(
                    "No Redis answers at " + address + ": " + e.getMessage()
                            + "; check the address, and that both sides agree on TLS (redis:// or rediss://)",
                    e.getCause());
        }
    }

    @Override
    public String uri() {
        return uri;
    }

    @Override
    public SourceKind kind() {
        return SourceKind.ADDRESS;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public String describe() {
        return "source=address Redis " + version + " at " + RedisAddress.parse(uri);
    }

    @Override
    public RedisCommands connect() {
        return RedisCommands.connect(uri);
    }

    /** Does nothing: whoever started the server ends it. */
    @Override
    public void close() {}
}

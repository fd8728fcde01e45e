package io.minutehand.redis;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses where Redis comes from, and says so in the log. The order is: an explicit address; for tests, Docker through
 * Testcontainers; an installed {@code redis-server} or {@code valkey-server}; the embedded binary.
 *
 * <p>{@code MINUTEHAND_REDIS} gives the address, {@code MINUTEHAND_REDIS_SOURCE} forces a source by its label. Both can
 * also be system properties ({@code minutehand.redis}, {@code minutehand.redis.source}), which win over the environment.
 */
public final class RedisSource {

    /** Environment variable with the address of a Redis that runs already. */
    public static final String ADDRESS_VARIABLE = "MINUTEHAND_REDIS";

    /** System property with the address of a Redis that runs already. */
    public static final String ADDRESS_PROPERTY = "minutehand.redis";

    /** Environment variable that forces a source: {@code address}, {@code docker}, {@code path} or {@code embedded}. */
    public static final String SOURCE_VARIABLE = "MINUTEHAND_REDIS_SOURCE";

    /** System property that forces a source. */
    public static final String SOURCE_PROPERTY = "minutehand.redis.source";

    private static final Logger LOG = LoggerFactory.getLogger(RedisSource.class);

    private final RedisSourceKind kind;
    private final String description;
    private final @Nullable String address;
    private final @Nullable RedisBinary binary;

    private RedisSource(
            RedisSourceKind kind, String description, @Nullable String address, @Nullable RedisBinary binary) {
        this.kind = kind;
        this.description = description;
        this.address = address;
        this.binary = binary;
    }

    /** What the choice looks at; tests replace it. */
    record Surroundings(
            @Nullable String address,
            @Nullable String forced,
            BooleanSupplier docker,
            Supplier<Optional<RedisBinary>> installed,
            Supplier<RedisBinary> embedded) {

        static Surroundings ofThisProcess() {
            return new Surroundings(
                    setting(ADDRESS_PROPERTY, ADDRESS_VARIABLE),
                    setting(SOURCE_PROPERTY, SOURCE_VARIABLE),
                    DockerProbe::isAvailable,
                    RedisBinary::onPath,
                    RedisBinary::embedded);
        }
    }

    /**
     * Chooses for a demo or a benchmark: address, else installed, else embedded.
     *
     * @param address an address that wins over the environment's, or null
     * @throws IllegalStateException    if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the address or the forced label is malformed
     */
    public static RedisSource forDemo(@Nullable String address) {
        return chosen(choose(address, false, Surroundings.ofThisProcess()));
    }

    /**
     * Chooses for tests: address from the environment, else Docker, else installed, else embedded.
     *
     * @throws IllegalStateException    if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the address or the forced label is malformed
     */
    public static RedisSource forTests() {
        return chosen(choose(null, true, Surroundings.ofThisProcess()));
    }

    private static RedisSource chosen(RedisSource source) {
        LOG.info("redis: chose source={} {}", source.kind.label(), source.description);
        return source;
    }

    static RedisSource choose(@Nullable String argument, boolean dockerAllowed, Surroundings around) {
        String address = argument != null ? argument : around.address();
        if (around.forced() != null) {
            RedisSourceKind forced = RedisSourceKind.ofLabel(around.forced());
            if (argument != null && forced != RedisSourceKind.ADDRESS) {
                throw new IllegalStateException("An address was given, but " + SOURCE_VARIABLE + "=" + forced.label()
                        + "; drop one of the two");
            }
            return forced(forced, address, around);
        }
        if (address != null) {
            return ofAddress(address);
        }
        if (dockerAllowed && around.docker().getAsBoolean()) {
            return ofDocker();
        }
        return around.installed()
                .get()
                .map(RedisSource::ofBinary)
                .orElseGet(() -> ofBinary(around.embedded().get()));
    }

    private static RedisSource forced(RedisSourceKind kind, @Nullable String address, Surroundings around) {
        String setting = SOURCE_VARIABLE + "=" + kind.label();
        switch (kind) {
            case ADDRESS -> {
                if (address == null) {
                    throw new IllegalStateException(setting + ", but no address is given; set " + ADDRESS_VARIABLE);
                }
                return ofAddress(address);
            }
            case DOCKER -> {
                if (!around.docker().getAsBoolean()) {
                    throw new IllegalStateException(
                            setting + ", but Testcontainers is not on the class path or finds no Docker engine");
                }
                return ofDocker();
            }
            case PATH -> {
                return ofBinary(around.installed()
                        .get()
                        .orElseThrow(
                                () -> new IllegalStateException(setting + ", but " + RedisBinary.missingOnPath())));
            }
            case EMBEDDED -> {
                return ofBinary(around.embedded().get());
            }
        }
        throw new IllegalStateException("Unknown source " + kind);
    }

    private static RedisSource ofAddress(String address) {
        return new RedisSource(RedisSourceKind.ADDRESS, "server at " + RedisAddress.parse(address), address, null);
    }

    private static RedisSource ofDocker() {
        return new RedisSource(RedisSourceKind.DOCKER, "container of " + DockerProbe.IMAGE, null, null);
    }

    private static RedisSource ofBinary(RedisBinary binary) {
        return new RedisSource(binary.kind(), binary.describe(), null, binary);
    }

    /** Which source was chosen. */
    public RedisSourceKind kind() {
        return kind;
    }

    /** One line for people: what was chosen, without credentials. */
    public String describe() {
        return description;
    }

    /**
     * Starts or reaches a single Redis.
     *
     * @param settings how to set up what is started here; a server at an address is taken as it is
     * @throws IllegalStateException        if it does not start, or is older than 7.0
     * @throws java.io.UncheckedIOException if nothing answers at the address
     */
    public RedisInstance open(RedisSettings settings) {
        if (binary != null) {
            return RedisServer.start(binary, settings);
        }
        if (address != null) {
            return ExternalRedis.reach(address);
        }
        return DockerRedis.start(settings);
    }

    /** A setting from the system properties, else from the environment; null if neither has it or it is empty. */
    static @Nullable String setting(String property, String variable) {
        String value = System.getProperty(property, System.getenv(variable));
        return value == null || value.isBlank() ? null : value.trim();
    }
}

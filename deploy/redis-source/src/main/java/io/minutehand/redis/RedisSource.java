package io.minutehand.redis;

import io.minutehand.source.SourceChooser;
import io.minutehand.source.SourceKind;
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

    static final SourceChooser.Names NAMES =
            new SourceChooser.Names("Redis", ADDRESS_VARIABLE, ADDRESS_PROPERTY, SOURCE_VARIABLE, SOURCE_PROPERTY);

    private static final Logger LOG = LoggerFactory.getLogger(RedisSource.class);

    private final SourceChooser.Choice<RedisBinary> choice;
    private final String description;

    RedisSource(SourceChooser.Choice<RedisBinary> choice) {
        this.choice = choice;
        RedisBinary binary = choice.programs();
        String address = choice.address();
        if (binary != null) {
            this.description = binary.describe();
        } else if (address != null) {
            this.description = "server at " + RedisAddress.parse(address);
        } else {
            this.description = "container of " + DockerRedis.IMAGE;
        }
    }

    static SourceChooser<RedisBinary> chooser() {
        return SourceChooser.ofThisProcess(
                NAMES, RedisBinary::onPath, RedisBinary.missingOnPath(), RedisBinary::embedded);
    }

    /**
     * Chooses for a demo or a benchmark: address, else installed, else embedded.
     *
     * @param address an address that wins over the environment's, or null
     * @throws IllegalStateException    if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the address or the forced label is malformed
     */
    public static RedisSource forDemo(@Nullable String address) {
        return chosen(chooser().choose(address, false));
    }

    /**
     * Chooses for tests: address from the environment, else Docker, else installed, else embedded.
     *
     * @throws IllegalStateException    if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the address or the forced label is malformed
     */
    public static RedisSource forTests() {
        return chosen(chooser().choose(null, true));
    }

    private static RedisSource chosen(SourceChooser.Choice<RedisBinary> choice) {
        RedisSource source = new RedisSource(choice);
        LOG.info("redis: chose source={} {}", source.kind().label(), source.description);
        return source;
    }

    /** Which source was chosen. */
    public SourceKind kind() {
        return choice.kind();
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
        RedisBinary binary = choice.programs();
        String address = choice.address();
        if (binary != null) {
            return RedisServer.start(binary, settings);
        }
        if (address != null) {
            return ExternalRedis.reach(address);
        }
        return DockerRedis.start(settings);
    }
}

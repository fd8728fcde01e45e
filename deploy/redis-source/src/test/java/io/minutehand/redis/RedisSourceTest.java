package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisSourceTest {

    private static final RedisBinary INSTALLED =
            new RedisBinary(Path.of("/usr/bin/redis-server"), "7.0.15", RedisSourceKind.PATH);
    private static final RedisBinary EMBEDDED =
            new RedisBinary(Path.of("/tmp/redis-server"), "7.0.9", RedisSourceKind.EMBEDDED);
    private static final String ADDRESS = "redis://:secret@somewhere:7000";

    /** Everything is there; each row takes the first source of the order away. */
    @ParameterizedTest
    @CsvSource({
        "true,  true,  true,  true,  address",
        "false, true,  true,  true,  docker",
        "false, true,  false, true,  path",
        "false, true,  false, false, embedded",
        "true,  false, true,  true,  address",
        "false, false, true,  true,  path",
        "false, false, true,  false, embedded",
    })
    void shouldTakeTheFirstThatIsThere(
            boolean address, boolean dockerAllowed, boolean docker, boolean installed, String expected) {
        RedisSource source =
                RedisSource.choose(null, dockerAllowed, around(address ? ADDRESS : null, null, docker, installed));
        assertThat(source.kind().label()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"address", "docker", "path", "embedded"})
    void shouldObeyTheForcedSource(String label) {
        RedisSource source = RedisSource.choose(null, false, around(ADDRESS, label, true, true));
        assertThat(source.kind().label()).isEqualTo(label);
    }

    @ParameterizedTest
    @CsvSource({"address, MINUTEHAND_REDIS", "docker, Docker engine", "path, redis-server"})
    void shouldFailWhenTheForcedSourceIsNotThere(String label, String expected) {
        assertThatThrownBy(() -> RedisSource.choose(null, true, around(null, label, false, false)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("MINUTEHAND_REDIS_SOURCE=" + label)
                .hasMessageContaining(expected);
    }

    @Test
    void shouldRefuseAnUnknownLabel() {
        assertThatThrownBy(() -> RedisSource.choose(null, true, around(null, "apt", true, true)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address, docker, path, embedded");
    }

    @Test
    void shouldPreferTheArgumentToTheEnvironment() {
        RedisSource source = RedisSource.choose("redis://given:1", false, around(ADDRESS, null, true, true));
        assertThat(source.kind()).isEqualTo(RedisSourceKind.ADDRESS);
        assertThat(source.describe()).contains("given:1");
    }

    @Test
    void shouldRefuseAnArgumentAgainstAForcedSource() {
        assertThatThrownBy(() -> RedisSource.choose("redis://given:1", false, around(null, "embedded", true, true)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("MINUTEHAND_REDIS_SOURCE=embedded");
    }

    @Test
    void shouldDescribeWithoutCredentials() {
        assertThat(RedisSource.choose(null, false, around(ADDRESS, null, true, true))
                        .describe())
                .contains("somewhere:7000")
                .doesNotContain("secret");
        assertThat(RedisSource.choose(null, false, around(null, null, false, true))
                        .describe())
                .contains("7.0.15", "/usr/bin/redis-server");
    }

    private static RedisSource.Surroundings around(
            @Nullable String address, @Nullable String forced, boolean docker, boolean installed) {
        return new RedisSource.Surroundings(
                address,
                forced,
                () -> docker,
                () -> installed ? Optional.of(INSTALLED) : Optional.empty(),
                () -> EMBEDDED);
    }
}

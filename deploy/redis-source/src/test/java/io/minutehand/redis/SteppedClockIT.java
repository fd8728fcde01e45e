package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SteppedClockIT {
    /** Between a look at the machine's clock and one at the server's. */
    private static final long SLACK_S = 20;

    @BeforeAll
    static void needLibrary() {
        assertThat(SteppedClock.supported() || System.getenv("CI") == null)
                .as("under CI there is libfaketime (Debian: apt-get install faketime)")
                .isTrue();
        Assumptions.assumeTrue(SteppedClock.supported(), "there is no libfaketime on this machine");
    }

    private static long seconds(RedisCommands redis) {
        return Long.parseLong(redis.texts("TIME").get(0));
    }

    private static void awaitOffset(RedisCommands redis, long offset) {
        await().untilAsserted(() -> assertThat(seconds(redis) - System.currentTimeMillis() / 1000)
                .isBetween(offset - SLACK_S, offset + SLACK_S));
    }

    @Test
    void shouldStepTheClockOfARunningServer() {
        RedisBinary installed = Programs.installed().orElse(null);
        Assumptions.assumeTrue(installed != null, "no redis-server is installed");
        try (RedisServer server = RedisServer.start(
                        Objects.requireNonNull(installed),
                        RedisSettings.defaults().withSteppedClock());
                RedisCommands redis = server.connect()) {
            assertThat(seconds(redis) - System.currentTimeMillis() / 1000).isBetween(-SLACK_S, SLACK_S);
            redis.call("SET", "short", "x", "PX", 100_000);
            redis.call("SET", "long", "x", "PX", 1_000_000);

            server.setClock(Duration.ofMinutes(5));

            awaitOffset(redis, 300);
            assertThat(redis.number("EXISTS", "short")).isZero();
            assertThat(redis.number("PTTL", "long")).isBetween(600_000L, 700_000L);

            server.setClock(Duration.ofMinutes(-5));

            awaitOffset(redis, -300);
            assertThat(redis.number("PTTL", "long")).isBetween(1_200_000L, 1_300_000L);
        }
    }

    @Test
    void shouldRefuseAProgramThatNothingCanStandBefore() {
        RedisSettings settings = RedisSettings.defaults().withSteppedClock();
        assertThatThrownBy(() -> RedisServer.start(RedisBinary.embedded(), settings))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("embedded")
                .hasMessageContaining("install a redis-server");
    }

    @Test
    void shouldSayThatAServerHasATrueClockOnly() {
        try (RedisServer server = RedisServer.start()) {
            assertThatThrownBy(() -> server.setClock(Duration.ofMinutes(5)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("withSteppedClock");
        }
    }
}

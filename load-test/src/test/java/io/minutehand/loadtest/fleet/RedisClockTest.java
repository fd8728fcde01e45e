package io.minutehand.loadtest.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RedisClockTest {
    private final AtomicLong aheadUs = new AtomicLong(3_600_000_000L);

    private final Supplier<Long> server = () -> System.nanoTime() / 1_000 + aheadUs.get();

    @Test
    void shouldFollowTheServerWithinItsError() {
        try (RedisClock clock = new RedisClock(server, () -> {})) {
            for (int i = 0; i < 1_000; i++) {
                long beforeUs = server.get();
                long us = clock.nowUs();
                long afterUs = server.get();
                assertThat(us).isBetween(beforeUs - clock.errorUs(), afterUs + clock.errorUs());
            }
            assertThat(clock.errorUs()).isLessThan(10_000);
        }
    }

    @Test
    void shouldFollowAServerClockThatIsSet() {
        try (RedisClock clock = new RedisClock(server, () -> {})) {
            aheadUs.addAndGet(-60_000_000);
            clock.sample();

            assertThat(Math.abs(clock.nowUs() - server.get())).isLessThan(1_000_000);
        }
    }

    @Test
    void shouldSayWhenTheServerReachesATime() {
        try (RedisClock clock = new RedisClock(server, () -> {})) {
            long nowUs = clock.nowUs();
            long nowNs = System.nanoTime();

            assertThat(clock.nanoTimeAt(nowUs + 5_000_000) - nowNs).isBetween(4_900_000_000L, 5_000_000_000L + 1_000);
        }
    }

    @Test
    void shouldDisconnectWhenClosed() {
        AtomicBoolean disconnected = new AtomicBoolean();

        new RedisClock(server, () -> disconnected.set(true)).close();

        assertThat(disconnected).isTrue();
    }
}

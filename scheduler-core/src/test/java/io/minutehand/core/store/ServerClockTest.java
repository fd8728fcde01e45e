package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServerClockTest {
    private static final long MS = 1_000_000;
    private static final long SERVER_US = 1_700_000_000_000_000L;
    private static final long HOUR_NS = 3_600_000 * MS;

    private final ServerClock clock = new ServerClock();
    private final long startNs = System.nanoTime();

    @Test
    void shouldBeThisMachinesClockUntilAReplyCame() {
        assertThat(clock.sampled()).isFalse();
        assertThat(clock.nowMs()).isCloseTo(System.currentTimeMillis(), org.assertj.core.data.Offset.offset(2000L));
        assertThat(clock.passedMs()).isCloseTo(System.currentTimeMillis(), org.assertj.core.data.Offset.offset(2000L));
    }

    @Test
    void shouldTakeAReplyAsMadeInTheMiddleOfItsRoundTrip() {
        clock.sample(startNs, startNs + 4 * MS, SERVER_US);

        assertThat(clock.sampled()).isTrue();
        assertThat(serverUsAt(startNs + 2 * MS)).isEqualTo(SERVER_US);
        assertThat(clock.errorUs()).isBetween(2001L, 2001L + 60_000_000 / 10_000);
    }

    @Test
    void shouldKeepTheSampleWithTheSmallestError() {
        clock.sample(startNs, startNs + 2 * MS, SERVER_US);
        clock.sample(startNs + 10 * MS, startNs + 30 * MS, SERVER_US + 12_000);

        assertThat(serverUsAt(startNs + MS))
                .as("the second agrees within its larger error")
                .isEqualTo(SERVER_US);

        clock.sample(startNs + 40 * MS, startNs + 41 * MS, SERVER_US + 39_600);
        assertThat(serverUsAt(startNs + 40 * MS + MS / 2))
                .as("the third is better")
                .isEqualTo(SERVER_US + 39_600);
    }

    @Test
    void shouldLetASampleGrowOldByTheDriftOfTwoClocks() {
        clock.sample(startNs, startNs + 2 * MS, SERVER_US);
        long laterNs = startNs + HOUR_NS;
        // An hour at 100 ppm is 360 ms of error: a round trip of 400 ms is better by now, one of 800 ms is not.
        clock.sample(laterNs, laterNs + 800 * MS, SERVER_US + 3_600_399_000L + 5000);
        assertThat(serverUsAt(startNs + MS)).isEqualTo(SERVER_US);

        clock.sample(laterNs, laterNs + 400 * MS, SERVER_US + 3_600_199_000L + 5000);
        assertThat(serverUsAt(laterNs + 200 * MS)).isEqualTo(SERVER_US + 3_600_204_000L);
    }

    @Test
    void shouldFollowAStepOfTheServersClockAtOnce() {
        clock.sample(startNs, startNs + MS, SERVER_US);

        clock.sample(startNs + 10 * MS, startNs + 60 * MS, SERVER_US + 60_000_000);
        assertThat(serverUsAt(startNs + 35 * MS))
                .as("forwards, although the round trip was long")
                .isEqualTo(SERVER_US + 60_000_000);

        clock.sample(startNs + 70 * MS, startNs + 90 * MS, SERVER_US);
        assertThat(serverUsAt(startNs + 80 * MS)).as("backwards").isEqualTo(SERVER_US);
    }

    @Test
    void shouldSayForSureWhatHasPassed() {
        clock.sample(startNs, startNs + 200 * MS, SERVER_US);

        long passedMs = clock.passedMs();
        long nowMs = clock.nowMs();

        assertThat(nowMs - passedMs).as("estimate less its error").isBetween(99L, 10_000L);
    }

    @Test
    void shouldTellWhenTheServerReachesATime() {
        clock.sample(startNs, startNs, SERVER_US);

        assertThat(clock.nanoTimeAt(SERVER_US / 1000)).isEqualTo(startNs);
        assertThat(clock.nanoTimeAt(SERVER_US / 1000 + 250)).isEqualTo(startNs + 250 * MS);
        assertThat(clock.nanoTimeAt(SERVER_US / 1000 - 250)).isEqualTo(startNs - 250 * MS);
    }

    @Test
    void shouldGoOnByTheLocalClock() {
        clock.sample(startNs, startNs, SERVER_US);

        long before = System.nanoTime();
        long us = clock.nowUs();
        long after = System.nanoTime();

        assertThat(us).isBetween(SERVER_US + (before - startNs) / 1000 - 1, SERVER_US + (after - startNs) / 1000 + 1);
    }

    /** The server's time at a local time, by what the clock would wait for. */
    private long serverUsAt(long ns) {
        long offsetNs = SERVER_US / 1000 * MS - clock.nanoTimeAt(SERVER_US / 1000);
        return (ns + offsetNs) / 1000;
    }
}

package io.minutehand.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class BalanceTest {
    private static Balance balance(
            long paid, long closed, long open, long late, long both, long repeated, long differ) {
        return new Balance(
                Instant.EPOCH,
                Balance.GRACE,
                10_000,
                paid,
                closed,
                open,
                late,
                both,
                repeated,
                differ,
                new Balance.Lateness(2, 30, 812));
    }

    @Test
    void shouldHoldWhenEachOrderHasOneEnd() {
        Balance balance = balance(4_000, 6_000, 0, 0, 0, 0, 0);

        assertThat(balance.settled()).isTrue();
        assertThat(String.join("\n", balance.lines()))
                .contains("created                                  10,000")
                .contains("open later than 10 s past its time            0")
                .contains("p50 2 ms, p99 30 ms, latest 812 ms")
                .contains("created = paid + closed: holds");
    }

    @Test
    void shouldHoldButNotBeSettledWhileOrdersAreOpen() {
        Balance balance = balance(4_000, 5_000, 1_000, 0, 0, 0, 0);

        assertThat(balance.holds()).isTrue();
        assertThat(balance.settled()).isFalse();
        assertThat(balance.lines()).last().asString().contains("created = paid + closed + open: holds");
    }

    @Test
    void shouldNotHoldWhenAnythingIsWrong() {
        assertThat(balance(4_000, 6_001, 0, 0, 0, 1, 0).holds())
                .as("closed twice")
                .isFalse();
        assertThat(balance(4_000, 5_999, 0, 0, 0, 0, 0).holds()).as("lost").isFalse();
        assertThat(balance(4_000, 6_000, 0, 1, 0, 0, 0).holds()).as("late").isFalse();
        assertThat(balance(4_000, 6_000, 0, 0, 1, 0, 0).holds()).as("both").isFalse();
        assertThat(balance(4_000, 6_000, 0, 0, 0, 0, 1).holds()).as("differ").isFalse();
        assertThat(balance(4_000, 6_001, 0, 0, 0, 1, 0).lines())
                .last()
                .asString()
                .contains("DOES NOT HOLD");
    }
}

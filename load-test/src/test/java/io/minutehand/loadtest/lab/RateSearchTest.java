package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RateSearchTest {
    /** Searches where every rate up to a limit is held; returns the rates that were tried. */
    private static List<Long> tried(RateSearch search, double limit) {
        List<Long> rates = new ArrayList<>();
        for (Double rate = search.next(); rate != null; rate = search.next()) {
            rates.add(Math.round(rate));
            search.found(rate, rate <= limit);
        }
        return rates;
    }

    @Test
    void shouldDoubleUntilARateIsNotHeldAndThenHalveWhatLiesBetween() {
        RateSearch search = new RateSearch(1_000, 20);

        assertThat(tried(search, 5_200))
                .containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 6_000L, 5_000L, 5_500L, 5_250L);
        assertThat(search.best()).isEqualTo(5_000);
    }

    @Test
    void shouldGoDownIfTheFirstIsNotHeld() {
        RateSearch search = new RateSearch(1_000, 20);

        assertThat(tried(search, 300)).startsWith(1_000L, 500L, 250L, 375L);
        assertThat(search.best()).isBetween(285.0, 300.0);
    }

    @ParameterizedTest
    @CsvSource({"1000,3,50000", "1000,12,31000", "1,40,0", "1,40,1", "500000,40,5000000"})
    void shouldEndWithinItsSteps(double first, int most, double limit) {
        RateSearch search = new RateSearch(first, most);

        List<Long> rates = tried(search, limit);

        assertThat(rates).hasSizeBetween(1, most).allMatch(rate -> rate >= 1 && rate <= 1_000_000);
        assertThat(rates).doesNotHaveDuplicates();
        Double best = search.best();
        if (limit < 1) {
            assertThat(best).isNull();
        } else {
            assertThat(best).isLessThanOrEqualTo(limit);
        }
    }
}

package io.minutehand.worker.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressTest {
    private static final Counts PAGE = new Counts(1, 10, 3, List.of("a", "b", "c"), 5, 2, 1, 1, 1, List.of("x"));

    @Test
    void shouldReadWhatItWrote() {
        Progress begun = Progress.begin("f", 3, 17);
        Progress paged = begun.after(PAGE, List.of("2023-01-01", "\u00e4\"\n"), false);

        assertThat(Progress.decode(begun.encode())).contains(begun);
        assertThat(Progress.decode(paged.encode())).contains(paged);
        assertThat(paged.complete()).isFalse();
        assertThat(paged.after(PAGE, null, true).complete()).isTrue();
    }

    @Test
    void shouldAddUpPagesAndKeepTheFirstIdsOnly() {
        Counts two = PAGE.plus(PAGE);

        assertThat(two)
                .isEqualTo(new Counts(2, 20, 6, List.of("a", "b", "c", "a", "b"), 10, 4, 2, 2, 2, List.of("x", "x")));
        assertThat(PAGE.missingOnly()).isEqualTo(new Counts(0, 0, 3, List.of("a", "b", "c"), 0, 0, 0, 0, 0, List.of()));
    }

    @Test
    void shouldCountWhatAPageHadPutBackBeforeItWasDoneAgainAsMissing() {
        Counts putBefore = new Counts(0, 0, 3, List.of("a", "b", "c"), 0, 0, 0, 0, 0, List.of());
        Counts again = new Counts(0, 0, 1, List.of("d"), 7, 1, 0, 0, 0, List.of());

        assertThat(putBefore.asMissingAmong(again))
                .isEqualTo(new Counts(0, 0, 4, List.of("a", "b", "c", "d"), 4, 1, 0, 0, 0, List.of()));
        assertThat(Counts.NONE.asMissingAmong(again)).isEqualTo(again);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "[]", "nonsense", "{\"query\":\"f\",\"pass\":1}", "null"})
    void shouldBeginAnewOverWhatItCannotRead(String text) {
        assertThat(Progress.decode(text)).isEmpty();
    }

    @Test
    void shouldReadWhatALaterVersionAdded() {
        String later = Progress.begin("f", 3, 17).encode().replaceFirst("\\{", "{\"more\":{\"a\":1},");

        assertThat(Progress.decode(later)).contains(Progress.begin("f", 3, 17));
    }
}

package io.minutehand.loadtest.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Figure;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import io.minutehand.loadtest.report.html.HtmlReport.Percentile;
import io.minutehand.loadtest.report.html.HtmlReport.Second;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HtmlReportTest {
    private static Measured named(String name) {
        return new Measured(name, List.of(), List.of(), List.of());
    }

    private static HtmlReport report(List<Figure> figures, Measured... systems) {
        return new HtmlReport("t", List.of(), figures, List.of(systems));
    }

    @Test
    void shouldRefuseSystemsThatCannotBeToldApart() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> report(List.of(), named("a"), named("b"), named("a")))
                .withMessageContaining("[a, b, a]");
        assertThatIllegalArgumentException().isThrownBy(() -> report(List.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> named(" "));
    }

    @Test
    void shouldRefuseARowThatLeavesASystemOut() {
        Figure row = new Figure("p99, ms", List.of("1"), "");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> report(List.of(row), named("a"), named("b")))
                .withMessageContaining("\"p99, ms\" has 1 values for 2 systems [a, b]");
        assertThat(report(List.of(row), named("a")).figures()).containsExactly(row);
    }

    @Test
    void shouldRefusePointsThatGoBack() {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        new Measured("a", List.of(new Percentile(99, 1), new Percentile(90, 1)), List.of(), List.of()))
                .withMessage("percentiles of a: 90.0 comes after 99.0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Measured("a", List.of(), List.of(second(1), second(1)), List.of()))
                .withMessage("seconds of a: 1 comes after 1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Measured("a", List.of(), List.of(), List.of(3L, -1L)));
    }

    private static Second second(long second) {
        return new Second(second, 1, 2, 3, 4, 5);
    }

    @Test
    void shouldTakeNoLatenessButNoInfiniteOne() {
        assertThat(new Second(0, Double.NaN, Double.NaN, Double.NaN, 0, 0).p50Ms())
                .isNaN();
        assertThat(new Percentile(50, -0.1).ms()).isNegative();
        assertThatIllegalArgumentException().isThrownBy(() -> new Second(0, 1, 2, Double.POSITIVE_INFINITY, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Second(0, 1, 2, 3, 0, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Percentile(99, Double.NaN));
        assertThatIllegalArgumentException().isThrownBy(() -> new Percentile(100.1, 1));
    }

    @Test
    void shouldRefuseAChartWhoseLinesDoNotFitItsNumbers() {
        Line two = new Line("rss", List.of(1.0, Double.NaN));

        assertThat(new Chart("s", "t", "s", "MiB", List.of(0.0, 10.0), List.of(two)).lines())
                .containsExactly(two);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Chart("s", "t", "s", "MiB", List.of(0.0), List.of(two)))
                .withMessage("line rss of chart t has 2 values at 1 numbers");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Chart("s", "t", "s", "MiB", List.of(1.0, 1.0), List.of(two)))
                .withMessage("chart t: 1.0 comes after 1.0");
        assertThatIllegalArgumentException().isThrownBy(() -> new Chart("s", "t", "s", "MiB", List.of(), List.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> new Line("rss", List.of(Double.NEGATIVE_INFINITY)));
    }

    @Test
    void shouldKeepListsOfItsOwn() {
        List<Long> sizes = new ArrayList<>(List.of(1L));
        Measured system = new Measured("a", List.of(), List.of(), sizes);
        sizes.add(2L);

        assertThat(system.bucketSizes()).containsExactly(1L);
    }
}

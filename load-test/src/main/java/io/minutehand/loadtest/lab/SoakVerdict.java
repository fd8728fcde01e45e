package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.median;
import static io.minutehand.loadtest.report.Figures.rounded;

import java.util.List;
import java.util.Locale;

/**
 * Whether a series of samples is flat: the median of its last third against that of its middle third. The first third does
 * not count, in it caches fill and code is compiled.
 *
 * @param series its name
 * @param change of the last third over the middle one, 0.05 = 5 percent more
 */
record SoakVerdict(String series, double middle, double last, double change, boolean flat) {
    /** With fewer, one odd sample would decide. */
    static final int LEAST_SAMPLES = 9;

    private static final double LIMIT = 0.05;

    /** Judges a series; one with fewer than {@link #LEAST_SAMPLES} is not flat. */
    static SoakVerdict of(SoakSeries series) {
        List<Double> values = series.values();
        int third = values.size() / 3;
        if (values.size() < LEAST_SAMPLES) {
            return new SoakVerdict(series.name(), 0, 0, 0, false);
        }
        double middle =
                median(values.subList(third, values.size() - third).stream().mapToDouble(Double::doubleValue));
        double last = median(
                values.subList(values.size() - third, values.size()).stream().mapToDouble(Double::doubleValue));
        double change = middle == 0 ? 0 : last / middle - 1;
        boolean flat = middle > 0 && (Math.abs(change) <= LIMIT || Math.abs(last - middle) <= series.kind().slack);
        return new SoakVerdict(series.name(), middle, last, rounded(change), flat);
    }

    /** What is wrong with it, in words. */
    String failure() {
        return middle == 0
                ? series + " was not sampled " + LEAST_SAMPLES + " times, or always 0"
                : String.format(
                        Locale.ROOT,
                        "%s is not flat: %.1f in the middle third, %.1f in the last, %+.1f %%",
                        series,
                        middle,
                        last,
                        change * 100);
    }
}

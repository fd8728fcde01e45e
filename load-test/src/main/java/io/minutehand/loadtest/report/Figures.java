package io.minutehand.loadtest.report;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** Numbers as people read them. */
public final class Figures {
    private Figures() {}

    /** Returns a count with separated thousands. */
    public static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** Returns milliseconds with as many decimals as their size makes sensible. */
    public static String ms(double ms) {
        String format = ms < 100 ? "%.2f" : ms < 10_000 ? "%.1f" : "%,.0f";
        return String.format(Locale.ROOT, format, ms);
    }

    /** Returns a share, 0 to 1, in percent. */
    public static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }

    /** Returns a figure without decimals that say nothing. */
    public static String plain(double figure) {
        return figure == Math.rint(figure) ? count((long) figure) : Double.toString(figure);
    }

    /** Returns a figure as reports keep it, to a thousandth: no more of it was measured. */
    public static double rounded(double figure) {
        return Math.round(figure * 1_000) / 1_000.0;
    }

    /**
     * Returns the middle one of some figures, of an even number the mean of the two in the middle, rounded.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static double median(DoubleStream figures) {
        double[] sorted = figures.toArray();
        if (sorted.length == 0) {
            throw new IllegalArgumentException("no figures have no median");
        }
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return rounded(sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
    }

    /** Returns a figure with one decimal. */
    public static String one(double figure) {
        return String.format(Locale.ROOT, "%,.1f", figure);
    }
}

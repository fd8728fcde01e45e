package io.minutehand.loadtest.report;

import java.util.Locale;

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

    /** Returns a figure with one decimal. */
    public static String one(double figure) {
        return String.format(Locale.ROOT, "%,.1f", figure);
    }
}

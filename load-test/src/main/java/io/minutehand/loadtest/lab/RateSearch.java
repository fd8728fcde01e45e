package io.minutehand.loadtest.lab;

import org.jspecify.annotations.Nullable;

/**
 * Looks for the highest rate that is held: doubles until one is not (or halves until one is), then halves what lies
 * between, until that is a twentieth or the steps are used up. It takes for granted that what holds a rate holds each
 * lower one; the rate found was held itself. For one thread.
 */
final class RateSearch {
    private static final double MOST = 1_000_000;
    private static final double CLOSE = 1.05;

    private final double first;
    private int stepsLeft;
    private @Nullable Double held;
    private @Nullable Double notHeld;

    /**
     * Begins.
     *
     * @param first rate to try, 1 or more
     * @param mostSteps 1 or more
     */
    RateSearch(double first, int mostSteps) {
        this.first = first;
        this.stepsLeft = mostSteps;
    }

    /** The next rate to try, whole jobs a second; null if the search is over. */
    @Nullable
    Double next() {
        if (stepsLeft == 0) {
            return null;
        }
        Double high = notHeld;
        Double low = held;
        if (low == null && high == null) {
            return first;
        }
        if (high == null) {
            return low == null || low >= MOST ? null : (Double) Math.min(MOST, 2 * low);
        }
        if (low == null) {
            return high < 2 ? null : (Double) Math.floor(high / 2);
        }
        double middle = Math.rint((low + high) / 2);
        return high / low <= CLOSE || middle <= low || middle >= high ? null : (Double) middle;
    }

    /** Tells whether a rate was held. */
    void found(double rate, boolean isHeld) {
        stepsLeft--;
        if (isHeld) {
            held = rate;
        } else {
            notHeld = rate;
        }
    }

    /** The highest rate that was held; null if none was. */
    @Nullable
    Double best() {
        return held;
    }
}

package io.minutehand.loadtest.check;

import org.HdrHistogram.Histogram;

/**
 * How late a set of starts was, in milliseconds. All are 0 if there were none.
 *
 * @param count how many starts it is about
 */
public record Lateness(long count, double p50, double p90, double p99, double p999, double p9999, double max) {
    /** Longest lateness that is told apart, microseconds: an hour. Whatever is later counts as that. */
    private static final long LONGEST_US = 3_600_000_000L;

    /** Significant digits kept of a value: 0.1 percent. */
    private static final int DIGITS = 3;

    /** Reads the percentiles of a recorder. */
    public static Lateness of(Recorder recorder) {
        Histogram us = recorder.us;
        return new Lateness(
                us.getTotalCount(),
                ms(us.getValueAtPercentile(50)),
                ms(us.getValueAtPercentile(90)),
                ms(us.getValueAtPercentile(99)),
                ms(us.getValueAtPercentile(99.9)),
                ms(us.getValueAtPercentile(99.99)),
                ms(recorder.maxUs));
    }

    private static double ms(long us) {
        return us / 1000.0;
    }

    /** Collects lateness. For one thread. */
    public static final class Recorder {
        private final Histogram us = new Histogram(LONGEST_US, DIGITS);
        private long maxUs;

        /**
         * Adds one start.
         *
         * @param latenessUs start minus due; a negative value, which the error of the clocks can make, counts as 0
         */
        public void record(long latenessUs) {
            long bounded = Math.min(Math.max(latenessUs, 0), LONGEST_US);
            us.recordValue(bounded);
            // The histogram rounds; the largest is worth its exact value.
            maxUs = Math.max(maxUs, bounded);
        }
    }
}

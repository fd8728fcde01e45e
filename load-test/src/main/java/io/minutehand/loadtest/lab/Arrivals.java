package io.minutehand.loadtest.lab;

import java.util.concurrent.TimeUnit;

/** When the jobs of a run are due, each by its number, after the first. */
enum Arrivals {
    /** One after the other at the rate. */
    STEADY {
        @Override
        long offsetUs(long number, double rate) {
            return (long) (number * US_A_SECOND / rate);
        }
    },

    /** All on one millisecond. */
    BURST {
        @Override
        long offsetUs(long number, double rate) {
            return 0;
        }
    },

    /** Half of a minute's jobs in its first second, the rest over what is left of it. The first job is due on the minute. */
    HOT_MINUTE {
        @Override
        long offsetUs(long number, double rate) {
            long perMinute = Math.max(2, Math.round(rate * 60));
            long minute = number / perMinute;
            long within = number % perMinute;
            long hot = perMinute / 2;
            long us = within < hot
                    ? within * US_A_SECOND / hot
                    : US_A_SECOND + (within - hot) * 59 * US_A_SECOND / (perMinute - hot);
            return minute * TimeUnit.MINUTES.toMicros(1) + us;
        }
    };

    private static final long US_A_SECOND = 1_000_000;

    /**
     * When a job is due, microseconds after the first.
     *
     * @param number from 0; later numbers are never due sooner
     * @param rate jobs a second, on average
     */
    abstract long offsetUs(long number, double rate);
}

package io.minutehand.loadtest.lab;

import java.util.List;

/**
 * Samples of one thing.
 *
 * @param of whose it is: a process, or redis
 * @param seconds since the first sample, rising
 * @param values as many
 */
record SoakSeries(Kind kind, String of, List<Double> seconds, List<Double> values) {
    /** What is sampled, with its unit. */
    enum Kind {
        HEAP("heap after collection, MiB", 0),
        RSS("resident memory, MiB", 0),
        THREADS("threads", 1),
        KEYS("keys", 1);

        /** For people. */
        final String label;

        /** What it may differ by, however little there is. */
        final double slack;

        Kind(String label, double slack) {
            this.label = label;
            this.slack = slack;
        }
    }

    /** For people, without a comma. */
    String name() {
        return of + " " + kind.label.replace(",", "");
    }
}

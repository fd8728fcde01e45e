package io.minutehand.loadtest.report.html;

import java.util.List;

/**
 * What a report in HTML shows. Texts are plain texts: whatever they hold is shown as it stands.
 *
 * @param title of the page
 * @param facts machine, versions and settings, in the order in which they are shown
 * @param figures rows of the table of figures, in the same way
 * @param systems what was measured, the first being what the others are compared with
 * @param charts more charts, in their order
 */
public record HtmlReport(
        String title, List<Fact> facts, List<Figure> figures, List<Measured> systems, List<Chart> charts) {
    /** A report without more charts. */
    public HtmlReport(String title, List<Fact> facts, List<Figure> figures, List<Measured> systems) {
        this(title, facts, figures, systems, List.of());
    }

    /**
     * Checks that the parts fit each other.
     *
     * @throws IllegalArgumentException when there is no system, two have one name, or a row has not one value for each system
     */
    public HtmlReport {
        facts = List.copyOf(facts);
        figures = List.copyOf(figures);
        systems = List.copyOf(systems);
        charts = List.copyOf(charts);
        List<String> names = systems.stream().map(Measured::name).toList();
        if (names.isEmpty() || names.stream().distinct().count() < names.size()) {
            throw new IllegalArgumentException("report \"" + title + "\" has the systems " + names
                    + "; give at least one, each with a name of its own");
        }
        for (Figure row : figures) {
            if (row.values().size() != names.size()) {
                throw new IllegalArgumentException(
                        "figure \"" + row.label() + "\" has " + row.values().size() + " values for " + names.size()
                                + " systems " + names + "; give one for each");
            }
        }
    }

    /**
     * A thing to know about the run.
     *
     * @param name what it is
     * @param value what it was, with its unit
     */
    public record Fact(String name, String value) {}

    /**
     * A row of the table of figures.
     *
     * @param label what is compared, with its unit
     * @param values a text for each system, in their order; empty where there is none
     * @param ratio how they compare; empty when they are not compared
     */
    public record Figure(String label, List<String> values, String ratio) {
        /** Makes the list the record's own. */
        public Figure {
            values = List.copyOf(values);
        }
    }

    /**
     * What was measured of one system. Each list may be empty: its chart is left out.
     *
     * @param name of the system
     * @param percentiles of its lateness, by rising percentile
     * @param seconds of its run, by rising second; seconds may be missing
     * @param bucketSizes jobs of each bucket, in the order of their minutes
     */
    public record Measured(String name, List<Percentile> percentiles, List<Second> seconds, List<Long> bucketSizes) {
        /**
         * Checks the orders.
         *
         * @throws IllegalArgumentException when the name is blank, a list is not in its order, or a bucket has fewer than no jobs
         */
        public Measured {
            percentiles = List.copyOf(percentiles);
            seconds = List.copyOf(seconds);
            bucketSizes = List.copyOf(bucketSizes);
            require(!name.isBlank(), "name of a system is blank");
            for (int i = 1; i < percentiles.size(); i++) {
                double before = percentiles.get(i - 1).percentile();
                double here = percentiles.get(i).percentile();
                require(before < here, "percentiles of " + name + ": " + here + " comes after " + before);
            }
            for (int i = 1; i < seconds.size(); i++) {
                long before = seconds.get(i - 1).second();
                long here = seconds.get(i).second();
                require(before < here, "seconds of " + name + ": " + here + " comes after " + before);
            }
            for (long size : bucketSizes) {
                require(size >= 0, "bucket sizes of " + name + ": " + size + " is less than no jobs");
            }
        }
    }

    /**
     * A point of the curve of percentiles. Those from 50 to 99.999 are drawn.
     *
     * @param percentile 0 to 100
     * @param ms lateness, ms; a negative one (early by the estimate of the clock) may happen
     */
    public record Percentile(double percentile, double ms) {
        /**
         * Checks the ranges.
         *
         * @throws IllegalArgumentException when the percentile is not 0 to 100, or the lateness is no number
         */
        public Percentile {
            require(percentile >= 0 && percentile <= 100, "percentile " + percentile + " is not 0 to 100");
            require(Double.isFinite(ms), "lateness of percentile " + percentile + " is " + ms + " ms");
        }
    }

    /**
     * A second of a run.
     *
     * @param second from the start of the measured part, 0..
     * @param p50Ms median of the lateness of the jobs that were due in it, ms; NaN when there were none, as with the next two
     * @param p99Ms its 99th percentile, ms
     * @param maxMs the greatest, ms
     * @param scheduled jobs scheduled in it
     * @param started jobs started in it
     */
    public record Second(long second, double p50Ms, double p99Ms, double maxMs, long scheduled, long started) {
        /**
         * Checks the ranges.
         *
         * @throws IllegalArgumentException when a number is infinite or a count is negative
         */
        public Second {
            require(
                    second >= 0 && scheduled >= 0 && started >= 0,
                    "second=" + second + " scheduled=" + scheduled + " started=" + started + ": none may be negative");
            require(
                    !Double.isInfinite(p50Ms) && !Double.isInfinite(p99Ms) && !Double.isInfinite(maxMs),
                    "lateness of second " + second + " is infinite; NaN means none");
        }
    }

    /**
     * A chart of lines over numbers, such as a series of samples over time.
     *
     * @param section under whose heading it stands, together with the charts of the same section that follow
     * @param title of the chart
     * @param across what its numbers are, with the unit
     * @param unit of the values
     * @param at the numbers, rising
     * @param lines one or more
     */
    public record Chart(String section, String title, String across, String unit, List<Double> at, List<Line> lines) {
        /**
         * Checks that the parts fit each other.
         *
         * @throws IllegalArgumentException when there is no line, a line has not one value for each number, or the numbers do
         *     not rise
         */
        public Chart {
            at = List.copyOf(at);
            lines = List.copyOf(lines);
            require(!lines.isEmpty(), "chart " + title + " has no line");
            for (int i = 1; i < at.size(); i++) {
                require(
                        at.get(i - 1) < at.get(i),
                        "chart " + title + ": " + at.get(i) + " comes after " + at.get(i - 1));
            }
            for (Line line : lines) {
                require(
                        line.values().size() == at.size(),
                        "line " + line.name() + " of chart " + title + " has "
                                + line.values().size() + " values at " + at.size() + " numbers");
            }
        }
    }

    /**
     * A line of a chart.
     *
     * @param name of the line
     * @param values finite ones, or NaN where there is none
     */
    public record Line(String name, List<Double> values) {
        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when one is infinite
         */
        public Line {
            values = List.copyOf(values);
            for (double value : values) {
                require(!Double.isInfinite(value), "line " + name + " has an infinite value; NaN means none");
            }
        }
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}

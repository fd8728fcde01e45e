package io.minutehand.orders;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * The books at one moment, by SQL. Orders are counted in {@code orders}, how they ended in {@code effects}: so an order that was closed twice does
 * not add up.
 *
 * @param takenAt by the clock of the database
 * @param grace how long past its time an order may be open
 * @param created orders
 * @param paid effects PAID
 * @param closed effects CLOSED
 * @param open orders that are neither
 * @param late orders that were closed later than the grace after their time, or are still open then
 * @param bothWays orders that were paid and closed
 * @param repeated orders that were paid, or closed, more than once
 * @param contradicted orders whose status and effects do not say the same, and effects without an order
 * @param closing how long after their time orders were closed
 */
record Balance(
        Instant takenAt,
        Duration grace,
        long created,
        long paid,
        long closed,
        long open,
        long late,
        long bothWays,
        long repeated,
        long contradicted,
        Lateness closing) {
    /** How long past its time an order may be open when workers die: take-over takes up to 8 s. */
    static final Duration GRACE = Duration.ofSeconds(10);

    /**
     * How long after their time orders were closed, ms; 0 when none was.
     *
     * @param p50Ms half of them sooner
     * @param p99Ms 99 of 100 sooner
     * @param maxMs the latest
     */
    record Lateness(double p50Ms, double p99Ms, double maxMs) {}

    /** Whether nothing is wrong so far: each order is open, paid or closed, once, and none too late. */
    boolean holds() {
        return created == paid + closed + open && late == 0 && bothWays == 0 && repeated == 0 && contradicted == 0;
    }

    /** Whether it holds and nothing is open any more: created = paid + closed. */
    boolean settled() {
        return holds() && open == 0;
    }

    /** The lines for people. */
    List<String> lines() {
        return List.of(
                row("created", created),
                row("paid", paid),
                row("closed", closed),
                row("open", open),
                row(String.format(Locale.ROOT, "open later than %s past its time", seconds(grace)), late),
                row("both paid and closed", bothWays),
                row("paid or closed more than once", repeated),
                row("status and effects differ", contradicted),
                String.format(
                        Locale.ROOT,
                        "  closed after its time: p50 %.0f ms, p99 %.0f ms, latest %.0f ms",
                        closing.p50Ms(),
                        closing.p99Ms(),
                        closing.maxMs()),
                "  created = paid + closed" + (open == 0 ? "" : " + open") + ": "
                        + (holds() ? "holds" : "DOES NOT HOLD"));
    }

    private static String row(String what, long count) {
        return String.format(Locale.ROOT, "  %-36s %,10d", what, count);
    }

    private static String seconds(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + " s" : duration.toMillis() + " ms";
    }
}

package io.minutehand.orders;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a worker process says of itself, a line each time.
 *
 * @param held buckets that it has leased
 * @param running handlers that run
 * @param closed orders that it closed
 * @param missing open orders that it found without a job while it was its turn to look
 * @param leading whether it is its turn
 */
record WorkerStatus(int held, int running, long closed, long missing, boolean leading) {
    /** Of one that has not joined. */
    static final WorkerStatus NONE = new WorkerStatus(0, 0, 0, 0, false);

    private static final Pattern LINE = Pattern.compile(
            "status held=(\\d{1,9}) running=(\\d{1,9}) closed=(\\d{1,18}) missing=(\\d{1,18}) leading=(true|false)");

    String toLine() {
        return "status held=" + held + " running=" + running + " closed=" + closed + " missing=" + missing + " leading="
                + leading;
    }

    /** Reads a line; null if it is another one. */
    static @Nullable WorkerStatus ofLine(String line) {
        Matcher matcher = LINE.matcher(line);
        return matcher.matches()
                ? new WorkerStatus(
                        Integer.parseInt(matcher.group(1)),
                        Integer.parseInt(matcher.group(2)),
                        Long.parseLong(matcher.group(3)),
                        Long.parseLong(matcher.group(4)),
                        Boolean.parseBoolean(matcher.group(5)))
                : null;
    }
}

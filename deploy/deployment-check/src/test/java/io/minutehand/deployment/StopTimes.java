package io.minutehand.deployment;

import io.minutehand.core.service.StopSignal;
import java.lang.reflect.Field;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How long the services take to end, as they say themselves. */
final class StopTimes {
    private static final Pattern SECONDS = Pattern.compile("([0-9]+)(?:s|sec)?");

    private StopTimes() {}

    /** After SIGTERM, at the latest. */
    static long longestStopS() {
        try {
            Field limit = StopSignal.class.getDeclaredField("LONGEST_STOP_S");
            limit.setAccessible(true);
            return limit.getLong(null);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("StopSignal says no more how long a stop may take", e);
        }
    }

    /** That whoever kills waits for longer than that. */
    static void require(Findings findings, String where, String time, long before) {
        Matcher seconds = SECONDS.matcher(time);
        boolean enough = seconds.matches() && Long.parseLong(seconds.group(1)) > before + longestStopS();
        findings.require(
                enough,
                where,
                "%s is too short: a service ends %d s after TERM at the latest, and %d s go by before",
                time.isEmpty() ? "no time" : time,
                longestStopS(),
                before);
    }
}

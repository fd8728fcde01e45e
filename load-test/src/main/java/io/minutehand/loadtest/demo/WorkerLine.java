package io.minutehand.loadtest.demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The lines that a worker process prints for the demo process. They are for the screen; no verdict rests on them. */
final class WorkerLine {
    private static final Pattern READY = Pattern.compile("ready node=(\\S+)");
    private static final Pattern STATUS = Pattern.compile("status held=(\\d+) running=(\\d+)");

    /**
     * What a worker says of itself.
     *
     * @param held buckets that it has leased
     * @param running jobs that were handed to it and have not ended
     */
    record Status(int held, int running) {
        static final Status NONE = new Status(0, 0);
    }

    private WorkerLine() {}

    static String ready(String nodeId) {
        return "ready node=" + nodeId;
    }

    static String status(Status status) {
        return "status held=" + status.held() + " running=" + status.running();
    }

    /** Returns the id in a ready line, or null if it is another line. */
    static @Nullable String readyId(String line) {
        Matcher matcher = READY.matcher(line);
        return matcher.matches() ? matcher.group(1) : null;
    }

    /** Reads a status line; null if it is another line. */
    static @Nullable Status status(String line) {
        Matcher matcher = STATUS.matcher(line);
        return matcher.matches()
                ? new Status(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                : null;
    }
}

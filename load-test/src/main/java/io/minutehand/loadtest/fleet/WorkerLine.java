package io.minutehand.loadtest.demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The lines that a worker process prints for the demo process. They are for the screen; no verdict rests on them. */
final class WorkerLine {
    private static final Pattern STATUS = Pattern.compile("status node=(\\S+) held=(\\d+) running=(\\d+)");

    /**
     * What a worker says of itself.
     *
     * @param nodeId the id under which it is a member; it changes if it was taken for dead and came back
     * @param held buckets that it has leased
     * @param running jobs that were handed to it and have not ended
     */
    record Status(String nodeId, int held, int running) {
        static final Status NONE = new Status("", 0, 0);
    }

    private WorkerLine() {}

    static String status(Status status) {
        return "status node=" + status.nodeId() + " held=" + status.held() + " running=" + status.running();
    }

    /** Reads a status line; null if it is another line. */
    static @Nullable Status status(String line) {
        Matcher matcher = STATUS.matcher(line);
        return matcher.matches()
                ? new Status(matcher.group(1), Integer.parseInt(matcher.group(2)), Integer.parseInt(matcher.group(3)))
                : null;
    }
}

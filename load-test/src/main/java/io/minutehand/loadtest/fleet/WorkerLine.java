package io.minutehand.loadtest.fleet;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The lines that a worker process prints for the demo process. They are for the screen; no verdict rests on them. */
public final class WorkerLine {
    private static final Pattern STATUS =
            Pattern.compile("status node=(\\S+) held=(\\d+) running=(\\d+)((?: [A-Za-z_]+=\\d+)*)");

    /**
     * What a worker says of itself.
     *
     * @param nodeId the id under which it is a member; it changes if it was taken for dead and came back
     * @param held buckets that it has leased
     * @param running jobs that were handed to it and have not ended
     * @param counts more that it counts, by a name of letters
     */
    public record Status(String nodeId, int held, int running, Map<String, Long> counts) {
        /** Of a worker that has said nothing yet. */
        public static final Status NONE = new Status("", 0, 0, Map.of());

        /** Copies the counts. */
        public Status {
            counts = Map.copyOf(counts);
        }

        /** Returns a count; 0 if the worker does not tell it. */
        public long count(String name) {
            return counts.getOrDefault(name, 0L);
        }
    }

    private WorkerLine() {}

    /** Returns the line that tells a status. */
    public static String status(Status status) {
        StringBuilder line = new StringBuilder(
                "status node=" + status.nodeId() + " held=" + status.held() + " running=" + status.running());
        new TreeMap<>(status.counts())
                .forEach((name, count) ->
                        line.append(' ').append(name).append('=').append(count));
        return line.toString();
    }

    /** Reads a status line; null if it is another line. */
    static @Nullable Status status(String line) {
        Matcher matcher = STATUS.matcher(line);
        return matcher.matches()
                ? new Status(
                        matcher.group(1),
                        Integer.parseInt(matcher.group(2)),
                        Integer.parseInt(matcher.group(3)),
                        counts(matcher.group(4)))
                : null;
    }

    private static Map<String, Long> counts(String pairs) {
        Map<String, Long> counts = new HashMap<>();
        for (String pair : pairs.trim().split(" ", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                counts.put(pair.substring(0, equals), Long.parseLong(pair.substring(equals + 1)));
            }
        }
        return counts;
    }
}

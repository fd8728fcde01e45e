package io.minutehand.router;

import java.util.List;

/**
 * What became of the jobs of a {@code scheduleAll}.
 *
 * @param results one an item, in the order of the collection
 */
public record BatchResult(List<ScheduleResult> results) {
    /** Keeps a list that nobody changes. */
    public BatchResult {
        results = List.copyOf(results);
    }

    /** How many are stored under the request that was made. */
    public int accepted() {
        int accepted = 0;
        for (ScheduleResult result : results) {
            accepted += result.accepted() ? 1 : 0;
        }
        return accepted;
    }

    /** Those that are not, in order. */
    public List<ScheduleResult> rejected() {
        return results.stream().filter(result -> !result.accepted()).toList();
    }
}

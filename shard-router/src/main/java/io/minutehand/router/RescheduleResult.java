package io.minutehand.router;

import io.minutehand.core.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What became of a job that was to be moved to another time.
 *
 * @param id the job's id
 * @param status the outcome
 * @param state with ENDED: how it ended
 */
public record RescheduleResult(
        String id, Status status, @Nullable JobState state) {
    /** The outcome. */
    public enum Status {
        /** It waits for the new time. */
        MOVED,
        /** It is in flight: too late. */
        RUNNING,
        /** It is done, dead or cancelled. */
        ENDED,
        /** There is no such job, or it ended longer ago than the topic's retention. */
        NOT_FOUND,
        /** No reply came before the deadline: moved or not. Call again. */
        UNKNOWN
    }
}

package io.minutehand.router;

import io.minutehand.core.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What became of a job that was to be cancelled.
 *
 * @param id the job's id
 * @param status the outcome
 * @param state with ENDED: how it ended
 */
public record CancelResult(
        String id, Status status, @Nullable JobState state) {
    /** The outcome. */
    public enum Status {
        /** It will not run: cancelled by this call, or by an earlier one. */
        CANCELLED,
        /** It is in flight: too late. */
        RUNNING,
        /** It is done or dead. */
        ENDED,
        /** There is no such job, or it ended longer ago than the topic's retention. */
        NOT_FOUND,
        /** No reply came before the deadline: cancelled or not. Call again. */
        UNKNOWN
    }
}

package io.minutehand.core.store;

import io.minutehand.core.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What {@code cancel} or {@code reschedule} answered.
 *
 * @param status what happened
 * @param state with ENDED: how it ended
 * @param epoch with NOT_FOUND: the settings epoch of the shard, 0 = none; where it is another than the caller's, the job may have another home
 *     by now
 */
public record MoveOutcome(Status status, @Nullable JobState state, long epoch) {
    /** An outcome of a job that is there, or was. */
    MoveOutcome(Status status, @Nullable JobState state) {
        this(status, state, 0);
    }

    /** The one true outcome. */
    public enum Status {
        CANCELLED,
        MOVED,
        RUNNING,
        ENDED,
        NOT_FOUND,
        NEWER
    }
}

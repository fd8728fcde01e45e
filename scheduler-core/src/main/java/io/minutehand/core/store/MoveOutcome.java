package io.minutehand.core.store;

import io.minutehand.core.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What {@code cancel} or {@code reschedule} answered.
 *
 * @param status what happened
 * @param state with ENDED: how it ended
 */
public record MoveOutcome(Status status, @Nullable JobState state) {
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

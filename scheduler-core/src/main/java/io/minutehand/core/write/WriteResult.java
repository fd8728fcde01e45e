package io.minutehand.core.write;

import io.minutehand.core.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What became of one job that was to be stored.
 *
 * @param status the outcome
 * @param state of the job that was there before, or null
 */
public record WriteResult(Status status, @Nullable JobState state) {
    /** The outcome. */
    public enum Status {
        /** Stored now. */
        CREATED,
        /** The very same request was stored before: nothing changed. */
        EXISTS,
        /** Another request has this id: nothing changed. */
        CONFLICT,
        /** Stored in the place of an older job that was pending, dead or ended. */
        REPLACED,
        /** It would replace a job that is in flight: nothing changed. */
        RUNNING,
        /**
         * Stored in the primary, but not in as many replicas as asked for, in the time that was given. It may run, and a fail-over may lose it:
         * repeat with the same id.
         */
        STORED_NOT_REPLICATED,
        /** Redis is at maxmemory: for sure not stored. */
        STORE_FULL,
        /** Redis could not be reached before the deadline: for sure not stored. */
        NOT_STORED,
        /** A reply was lost and none came before the deadline: stored or not; repeat with the same id. */
        UNKNOWN;

        /** Whether the job is stored under the request that was made, as safely as was asked for. */
        public boolean accepted() {
            return this == CREATED || this == EXISTS || this == REPLACED;
        }
    }
}

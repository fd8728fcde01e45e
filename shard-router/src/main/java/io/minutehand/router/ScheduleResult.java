package io.minutehand.router;

import io.minutehand.core.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What became of one job that was to be scheduled.
 *
 * @param id the job's id, the caller's or the one that was made
 * @param status the outcome
 * @param state of the job that was there before, or null where there was none or it is not known
 * @param dueAtMs when this call wanted the job, epoch ms; with EXISTS the stored job keeps the time of the first call
 */
public record ScheduleResult(
        String id, Status status, @Nullable JobState state, long dueAtMs) {
    /** The outcome. */
    public enum Status {
        /** Stored now. */
        CREATED,
        /** The very same request was stored before, by an earlier call or by a repeat after a lost reply: nothing changed. */
        EXISTS,
        /** Another request has this id: nothing changed. */
        CONFLICT,
        /** Stored in the place of an older job that was pending, dead or ended. */
        REPLACED,
        /** It would replace a job that is in flight: nothing changed. */
        RUNNING,
        /**
         * Stored in the primary, but not in as many replicas as {@link JobRouter.Builder#durability} asks for, in the time that it gives. It may
         * run, and a fail-over may lose it: schedule it again with the same id.
         */
        STORED_NOT_REPLICATED,
        /** Redis is at maxmemory: for sure not stored. */
        STORE_FULL,
        /** It could not be sent before the deadline, or within {@code scheduleAll} found no room in the buffer: for sure not stored. */
        NOT_STORED,
        /** A reply was lost and none came before the deadline: stored or not. Schedule it again with the same id. */
        UNKNOWN;

        /** Whether the job is stored under the request that was made, as safely as was asked for. */
        public boolean accepted() {
            return this == CREATED || this == EXISTS || this == REPLACED;
        }
    }

    /** Whether the job is stored under the request that was made, as safely as was asked for. */
    public boolean accepted() {
        return status.accepted();
    }
}

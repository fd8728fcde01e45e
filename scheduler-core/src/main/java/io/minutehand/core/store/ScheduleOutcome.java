package io.minutehand.core.store;

import io.minutehand.core.job.JobState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one call of {@code schedule} answered.
 *
 * @param status of the whole call; only OK has items
 * @param items in the order of the jobs given
 * @param replicas how many replicas are known to have what is stored; 0 when nobody waited for them
 */
public record ScheduleOutcome(Status status, List<Item> items, int replicas) {
    /** Answer to the whole call. */
    public enum Status {
        OK,
        STALE_SETTINGS,
        CLOCK_AHEAD
    }

    /** Answer to one job. */
    public enum ItemStatus {
        /** Stored. */
        CREATED,
        /** The same request was stored before. */
        EXISTS,
        /** Another request has this id. */
        CONFLICT,
        /** Stored in the place of an older job. */
        REPLACED,
        /** The older job is in flight and stays. */
        RUNNING,
        /** The older job waits in another minute: call again with it. */
        ELSEWHERE,
        /** The older record is of a newer version and stays. */
        NEWER,
        /** The shard is an earlier home of the id, and the job is not there. */
        ABSENT
    }

    /**
     * Answer to one job.
     *
     * @param status what happened
     * @param state of the job that was there before, or null
     * @param minute with ELSEWHERE: where that job waits
     */
    public record Item(ItemStatus status, @Nullable JobState state, long minute) {}
}

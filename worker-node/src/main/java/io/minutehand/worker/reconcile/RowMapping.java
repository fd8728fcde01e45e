package io.minutehand.worker.reconcile;

import io.minutehand.core.job.JobSpec;
import org.jspecify.annotations.Nullable;

/** Makes the job of a row. */
@FunctionalInterface
public interface RowMapping {
    /**
     * The job that the row should have, with the very id under which the application schedules it; called on the reconciler's thread, for each row,
     * again and again.
     *
     * @return the job, which needs an id and must not be {@link JobSpec#replacing()}; or null: the row needs none
     * @throws Exception the row is counted as refused and logged with its key, the others go on
     */
    @Nullable
    JobSpec<?> jobOf(Row row) throws Exception;
}

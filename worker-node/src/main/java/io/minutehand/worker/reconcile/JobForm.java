package io.minutehand.worker.reconcile;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.write.JobForms;
import org.jspecify.annotations.Nullable;

/** Checks a job that a mapping made and brings it into the form in which a router stores it. Thread-safe. */
final class JobForm {
    private final JobForms forms;

    JobForm(@Nullable ObjectMapper mapper) {
        this.forms = new JobForms(mapper, Limits.PAYLOAD_BYTES);
    }

    /**
     * The stored form.
     *
     * @param nowUs the server's time, epoch microseconds
     * @throws IllegalArgumentException that says what of the job is not allowed
     */
    NewJob of(JobSpec<?> spec, long nowUs) {
        if (spec.id() == null) {
            throw new IllegalArgumentException(
                    "the job has no id; give it the one by which the application schedules it, or each pass would store another");
        }
        if (spec.isReplacing()) {
            throw new IllegalArgumentException(
                    "job " + spec.id() + " is replacing(), but a reconciliation never touches a job that is there");
        }
        return forms.draft(spec).toJob(nowUs);
    }
}

package io.minutehand.worker.jdbc;

import io.minutehand.worker.JobContext;
import java.sql.Connection;

/**
 * What a job does inside a database transaction, once. Called from many threads at once.
 *
 * @param <T> the payload's type
 */
@FunctionalInterface
public interface TransactionalHandler<T> {
    /**
     * Makes the effect of a job. It neither commits nor rolls back: returning commits, throwing rolls back.
     *
     * @param connection of the transaction, with auto-commit off; not to be kept
     * @param payload the decoded payload
     * @param job who and when
     * @throws Exception a failed attempt, or one of its other ends ({@link io.minutehand.worker.Dead}, {@link io.minutehand.worker.Again})
     */
    void handle(Connection connection, T payload, JobContext job) throws Exception;
}

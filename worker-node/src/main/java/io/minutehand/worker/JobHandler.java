package io.minutehand.worker;

/**
 * What a node does with a due job. Returning is an ack; throwing is a failed attempt, retried by the topic's policy; {@link Dead} and
 * {@link Again} are the two other ends. Called from many threads at once. It may run more than once for a job (a crash, a pause longer than
 * the visibility), so it checks the state of the world first and changes it conditionally.
 *
 * @param <T> the payload's type
 */
@FunctionalInterface
public interface JobHandler<T> {
    /**
     * Handles a job.
     *
     * @param payload the decoded payload
     * @param job who and when
     * @throws Exception a failed attempt
     */
    void handle(T payload, JobContext job) throws Exception;
}

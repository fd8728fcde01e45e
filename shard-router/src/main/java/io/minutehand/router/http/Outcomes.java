package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.job.JobState;
import io.minutehand.router.ScheduleResult;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What became of a job, as callers are told it. Stateless. */
final class Outcomes {
    private Outcomes() {}

    /**
     * The HTTP status of a job that is stored under the request that was made.
     *
     * @throws Problem when it is not, or not surely
     */
    static int status(String topic, ScheduleResult result) {
        return switch (result.status()) {
            case CREATED -> 201;
            case EXISTS, REPLACED -> 200;
            case CONFLICT ->
                throw about(
                        new Problem(
                                ProblemType.CONFLICT,
                                "a job of another request has this id" + standing(result.state())),
                        topic,
                        result);
            case RUNNING ->
                throw about(
                        new Problem(ProblemType.RUNNING, "the job that it would replace is running, and stays"),
                        topic,
                        result);
            case STORE_FULL ->
                throw about(
                        Problem.passing(ProblemType.STORE_FULL, "Redis is at maxmemory", Call.SOON_S), topic, result);
            case NOT_STORED ->
                throw about(
                        Problem.passing(
                                ProblemType.NOT_STORED,
                                "Redis could not be reached in time, or took no writes",
                                Call.SOON_S),
                        topic,
                        result);
            case UNKNOWN ->
                throw about(new Problem(ProblemType.OUTCOME_UNKNOWN, "Redis did not answer in time"), topic, result);
            case STORED_NOT_REPLICATED ->
                throw about(
                        new Problem(ProblemType.NOT_REPLICATED, "the replicas did not confirm in time"), topic, result);
        };
    }

    private static String standing(@Nullable JobState state) {
        return state == null ? "" : ", and is " + state;
    }

    private static Problem about(Problem problem, String topic, ScheduleResult result) {
        JobState state = result.state();
        return problem.with("topic", topic).with("id", result.id()).with("state", state == null ? null : state.name());
    }

    /** Tells of a job that is stored. */
    static ObjectNode fill(ObjectNode body, String topic, ScheduleResult result) {
        body.put("topic", topic);
        body.put("id", result.id());
        body.put("outcome", result.status().name());
        JobState state = result.state();
        if (state != null) {
            body.put("state", state.name());
        }
        if (result.status() != ScheduleResult.Status.EXISTS) {
            body.put("dueAt", Instant.ofEpochMilli(result.dueAtMs()).toString());
        }
        return body;
    }
}

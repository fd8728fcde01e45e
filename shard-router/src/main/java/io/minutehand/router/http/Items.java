package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.router.JobRouter;
import io.minutehand.router.ScheduleResult;
import io.minutehand.router.http.JobReader.Wanted;
import io.minutehand.router.http.Scope.Right;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Single jobs of batches: each names its topic, and each has its own result, whatever becomes of the others. Thread-safe. */
final class Items {
    private final JobRouter router;
    private final Topics topics;
    private final JobReader reader;

    Items(JobRouter router, Topics topics, HttpSettings settings) {
        this.router = router;
        this.topics = topics;
        this.reader = new JobReader(settings.payloadBytes());
    }

    /**
     * What became of an item.
     *
     * @param topic of the job, or null when that could not be read
     * @param result null when there is none
     * @param failure null when there is a result
     */
    record Outcome(
            @Nullable String topic,
            @Nullable ScheduleResult result,
            @Nullable Throwable failure) {}

    /** Schedules a job; the future does not fail. */
    CompletableFuture<Outcome> schedule(Call call, byte[] json) {
        Wanted wanted;
        try {
            wanted = reader.jobWithTopic(json);
            String topic = wanted.topic();
            if (topic == null) {
                throw Problem.at(ProblemType.MALFORMED_REQUEST, "/topic", "\"topic\" is missing");
            }
            call.key().require(Right.PRODUCE, topic);
            return router.schedule(topic, call.traced(wanted.spec()))
                    .handle((result, failure) -> new Outcome(topic, result, failure));
        } catch (RuntimeException refused) {
            return CompletableFuture.completedFuture(new Outcome(null, null, refused));
        }
    }

    /** Tells what became of an item. Returns whether its job is stored. */
    boolean tell(ObjectNode body, Call call, long index, Outcome outcome) {
        body.put("index", index);
        ScheduleResult result = outcome.result();
        String topic = outcome.topic();
        try {
            if (result == null || topic == null) {
                Throwable failure = outcome.failure();
                throw failure == null ? new IllegalStateException("item without outcome") : call.problemOf(failure);
            }
            body.put("status", Outcomes.status(topic, result));
            Outcomes.fill(body, topic, result);
            topics.seen(topic);
            return true;
        } catch (Problem problem) {
            tell(body, problem);
            return false;
        }
    }

    static void tell(ObjectNode body, Problem problem) {
        body.put("status", problem.type().status());
        problem.fill(body.putObject("problem"));
        String retryAfter = problem.headers().get("Retry-After");
        if (retryAfter != null) {
            body.put("retryAfter", Long.parseLong(retryAfter));
        }
    }
}

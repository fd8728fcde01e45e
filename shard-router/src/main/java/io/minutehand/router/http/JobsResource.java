package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.router.CancelResult;
import io.minutehand.router.JobRouter;
import io.minutehand.router.RescheduleResult;
import io.minutehand.router.TopicHandle;
import io.minutehand.router.http.JobReader.When;
import io.vertx.core.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** {@code /v1/topics/{topic}/jobs}: schedules, shows, cancels and moves single jobs. */
final class JobsResource {
    private static final Set<String> JSON = Set.of(Call.JSON);
    private static final Set<String> PATCH = Set.of(Call.JSON, "application/merge-patch+json");
    static final String IDEMPOTENCY_KEY = "Idempotency-Key";

    private final JobRouter router;
    private final Topics topics;
    private final Bodies bodies;
    private final JobReader reader;
    private final int bodyBytes;

    JobsResource(JobRouter router, Topics topics, Bodies bodies, HttpSettings settings) {
        this.router = router;
        this.topics = topics;
        this.bodies = bodies;
        this.reader = new JobReader(settings.payloadBytes());
        this.bodyBytes = settings.jobBytes();
    }

    /** POST: schedules a job. */
    void schedule(Call call) {
        String topic = call.topic();
        String key = idempotencyKey(call);
        bodies.read(call, JSON, bodyBytes, body -> {
            JobSpec<byte[]> spec = identified(reader.job(body), key);
            call.when(router.schedule(topic, call.traced(spec)), result -> {
                int status = Outcomes.status(topic, result);
                topics.seen(topic);
                call.response().putHeader(HttpHeaders.LOCATION, path(topic, result.id()));
                if (result.status() == io.minutehand.router.ScheduleResult.Status.EXISTS) {
                    call.response().putHeader("Idempotent-Replayed", "true");
                }
                call.json(status, Outcomes.fill(Json.MAPPER.createObjectNode(), topic, result));
            });
        });
    }

    /** Ids need no escaping in a path. */
    private static String path(String topic, String id) {
        return "/v1/topics/" + topic + "/jobs/" + id;
    }

    /** The key that names the request: it is a job's id; quotes as in a structured header are taken off. */
    private static @Nullable String idempotencyKey(Call call) {
        String given = call.request().getHeader(IDEMPOTENCY_KEY);
        if (given == null) {
            return null;
        }
        boolean quoted = given.length() >= 2 && given.startsWith("\"") && given.endsWith("\"");
        try {
            return JobReader.id(quoted ? given.substring(1, given.length() - 1) : given);
        } catch (IllegalArgumentException refused) {
            throw new Problem(
                            ProblemType.MALFORMED_REQUEST,
                            "the idempotency key becomes the job's id, and is none: " + refused.getMessage())
                    .with("parameter", IDEMPOTENCY_KEY);
        }
    }

    private static JobSpec<byte[]> identified(JobSpec<byte[]> spec, @Nullable String key) {
        if (key == null || key.equals(spec.id())) {
            return spec;
        }
        if (spec.id() != null) {
            throw Problem.at(
                    ProblemType.INVALID_REQUEST,
                    "/id",
                    "the id is not the " + IDEMPOTENCY_KEY + ", which becomes the job's id: leave one of them out");
        }
        return spec.id(key);
    }

    /** GET: shows a job. */
    void show(Call call) {
        String topic = call.topic();
        String id = call.id();
        call.when(
                known(topic).thenCompose(handle -> handle.find(id)), found -> call.json(200, shown(topic, id, found)));
    }

    /** DELETE: cancels a job. */
    void cancel(Call call) {
        String topic = call.topic();
        String id = call.id();
        call.when(known(topic).thenCompose(handle -> handle.cancel(id)), result -> {
            switch (result.status()) {
                case CANCELLED -> call.json(200, done(topic, id, CancelResult.Status.CANCELLED.name()));
                case RUNNING -> throw running(topic, id);
                case ENDED -> throw ended(topic, id, result.state());
                case NOT_FOUND -> throw notFound(topic, id);
                case UNKNOWN -> throw unknown(topic, id);
            }
        });
    }

    /** PATCH: moves a job to another time. */
    void move(Call call) {
        String topic = call.topic();
        String id = call.id();
        bodies.read(call, PATCH, bodyBytes, body -> {
            When when = reader.when(body);
            call.when(known(topic).thenCompose(handle -> move(handle, id, when)), result -> {
                switch (result.status()) {
                    case MOVED -> call.json(200, done(topic, id, RescheduleResult.Status.MOVED.name()));
                    case RUNNING -> throw running(topic, id);
                    case ENDED -> throw ended(topic, id, result.state());
                    case NOT_FOUND -> throw notFound(topic, id);
                    case UNKNOWN -> throw unknown(topic, id);
                }
            });
        });
    }

    private static CompletableFuture<RescheduleResult> move(TopicHandle<byte[]> handle, String id, When when) {
        Instant dueAt = when.dueAt();
        Duration delay = when.delay();
        return dueAt != null
                ? handle.reschedule(id, dueAt)
                : handle.reschedule(id, delay == null ? Duration.ZERO : delay);
    }

    /** The topic if there is one: looking for a job must not create its topic. */
    private CompletableFuture<TopicHandle<byte[]>> known(String topic) {
        return topics.require(topic).thenApply(known -> router.topic(topic));
    }

    private static ObjectNode done(String topic, String id, String outcome) {
        return Json.MAPPER.createObjectNode().put("topic", topic).put("id", id).put("outcome", outcome);
    }

    private static Problem about(Problem problem, String topic, String id) {
        return problem.with("topic", topic).with("id", id);
    }

    private static Problem running(String topic, String id) {
        return about(new Problem(ProblemType.RUNNING, "a worker has the job: too late"), topic, id)
                .with("state", JobState.IN_FLIGHT.name());
    }

    private static Problem ended(String topic, String id, @Nullable JobState state) {
        return about(
                        new Problem(ProblemType.ENDED, "the job has ended" + (state == null ? "" : " as " + state)),
                        topic,
                        id)
                .with("state", state == null ? null : state.name());
    }

    private static Problem notFound(String topic, String id) {
        return about(new Problem(ProblemType.JOB_NOT_FOUND, "topic " + topic + " has no job " + id), topic, id);
    }

    private static Problem unknown(String topic, String id) {
        return about(new Problem(ProblemType.OUTCOME_UNKNOWN, "Redis did not answer in time"), topic, id);
    }

    private static ObjectNode shown(String topic, String id, Optional<JobStatus> found) {
        JobStatus status = found.orElseThrow(() -> notFound(topic, id));
        ObjectNode body = Json.MAPPER.createObjectNode();
        body.put("topic", topic);
        body.put("id", status.id());
        body.put("state", status.state().name());
        Job job = status.job();
        if (job != null) {
            JobText.fill(body, job);
        }
        return body;
    }
}

package io.minutehand.worker;

import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.telemetry.Traces;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * A handler whose jobs are told of by two spans, in the trace that the job carries: {@code pop}, from when the job could start to when it did, so
 * that its length is the lateness, and {@code process}, the handler, which is the current span of the handler's thread.
 */
final class TracedCall implements TopicWork.Call {
    private final Traces traces;
    private final TopicWork.Call call;
    private final String pop;
    private final String process;

    TracedCall(Traces traces, String topic, TopicWork.Call call) {
        this.traces = traces;
        this.call = call;
        this.pop = "pop " + topic;
        this.process = "process " + topic;
    }

    @Override
    public void run(byte[] payload, JobContext job) throws Exception {
        TraceContext carried = TraceContext.of(job.headers());
        Instant due = job.dueAt().isAfter(job.createdAt()) ? job.dueAt() : job.createdAt();
        Traces.Span popped = traces.begin(Traces.Kind.CONSUMER, pop, carried, attributes("receive", job), due);
        popped.end(job.startedAt());
        Traces.Span span =
                traces.begin(Traces.Kind.CONSUMER, process, popped.context(), attributes("process", job), null);
        try (Traces.Scope current = span.activate()) {
            call.run(payload, job);
        } catch (Throwable failure) {
            // Another time that the handler asked for is no failure, a dead letter is one.
            if (!(failure instanceof Again)) {
                span.failed(String.valueOf(failure.getMessage()));
            }
            throw failure;
        } finally {
            span.end(null);
        }
    }

    private static Map<String, String> attributes(String operation, JobContext job) {
        Map<String, String> attributes = new HashMap<>(Traces.ofTopic(operation, job.topic()));
        attributes.put("messaging.message.id", job.id());
        attributes.put("minutehand.attempt", Integer.toString(job.attempt()));
        attributes.put("minutehand.delivery", Integer.toString(job.delivery()));
        return attributes;
    }
}

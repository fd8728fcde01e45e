package io.minutehand.core.telemetry;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Passes spans on to OpenTelemetry. Needs opentelemetry-api, which is optional, on the class path. Thread-safe. */
public final class OpenTelemetryTraces implements Traces {
    private static final String SCOPE = "io.minutehand";

    private static final TextMapGetter<TraceContext> GETTER = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(TraceContext carrier) {
            return carrier.headers().keySet();
        }

        @Override
        public @Nullable String get(@Nullable TraceContext carrier, String key) {
            return carrier == null ? null : carrier.headers().get(key);
        }
    };

    private final Tracer tracer;

    public OpenTelemetryTraces(OpenTelemetry telemetry) {
        this.tracer = telemetry.getTracer(SCOPE);
    }

    /** To the telemetry of this process, which an agent brings or its start has set, or {@link Traces#NONE} when there is none. */
    public static Traces global() {
        OpenTelemetryTraces traces = new OpenTelemetryTraces(GlobalOpenTelemetry.get());
        io.opentelemetry.api.trace.Span probe =
                traces.tracer.spanBuilder("probe").startSpan();
        // Never ended, so nobody sees it.
        return probe.getSpanContext().isValid() ? traces : Traces.NONE;
    }

    @Override
    public Traces.Span begin(
            Kind kind,
            String name,
            @Nullable TraceContext parent,
            Map<String, String> attributes,
            @Nullable Instant since) {
        Context before = parent == null || parent.isNone()
                ? Context.current()
                : W3CTraceContextPropagator.getInstance().extract(Context.root(), parent, GETTER);
        SpanBuilder builder = tracer.spanBuilder(name)
                .setSpanKind(SpanKind.valueOf(kind.name()))
                .setParent(before);
        attributes.forEach(builder::setAttribute);
        if (since != null) {
            builder.setStartTimestamp(since);
        }
        io.opentelemetry.api.trace.Span span = builder.startSpan();
        return new Begun(span, before.with(span));
    }

    private record Begun(io.opentelemetry.api.trace.Span span, Context in) implements Traces.Span {
        @Override
        public TraceContext context() {
            Map<String, String> headers = new HashMap<>();
            W3CTraceContextPropagator.getInstance().inject(in, headers, (carrier, name, value) -> {
                if (carrier != null) {
                    carrier.put(name, value);
                }
            });
            return TraceContext.of(headers);
        }

        @Override
        @SuppressWarnings("MustBeClosedChecker") // the caller closes it, by what is returned
        public Scope activate() {
            return in.makeCurrent()::close;
        }

        @Override
        public void note(String attribute, long value) {
            span.setAttribute(attribute, value);
        }

        @Override
        public void failed(String what) {
            span.setStatus(StatusCode.ERROR, what);
        }

        @Override
        public void end(@Nullable Instant at) {
            if (at == null) {
                span.end();
            } else {
                span.end(at);
            }
        }
    }
}

package io.minutehand.core.telemetry;

import io.minutehand.core.job.JobSpec;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which trace something belongs to, as W3C Trace Context (level 1) writes it into headers, of requests and of jobs. Values that are no context are
 * taken for none. Immutable.
 *
 * @param parent the value of {@code traceparent}, or ""
 * @param state the value of {@code tracestate}, or ""
 */
public record TraceContext(String parent, String state) {
    /** No trace. */
    public static final TraceContext NONE = new TraceContext("", "");

    /** The name of the header with trace and span. */
    public static final String PARENT = "traceparent";

    /** The name of the header with what vendors add. */
    public static final String STATE = "tracestate";

    /** Headers that do not tell one request from another: each repeat of a call has a span of its own. */
    public static final Set<String> HEADERS = Set.of(PARENT, STATE);

    private static final Pattern PARENT_FORM =
            Pattern.compile("(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");
    private static final Pattern STATE_FORM = Pattern.compile("[ -~]{1,512}");

    /** As headers have it, by their names in lower case. */
    public static TraceContext of(Function<String, @Nullable String> headers) {
        String parent = headers.apply(PARENT);
        if (parent == null || !PARENT_FORM.matcher(parent).matches()) {
            return NONE;
        }
        String state = headers.apply(STATE);
        return new TraceContext(
                parent, state == null || !STATE_FORM.matcher(state).matches() ? "" : state);
    }

    /** As a job has it; its headers may be written in any case. */
    public static TraceContext of(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return NONE;
        }
        return of(name -> {
            String value = headers.get(name);
            return value != null
                    ? value
                    : headers.entrySet().stream()
                            .filter(header -> header.getKey().equalsIgnoreCase(name))
                            .map(Map.Entry::getValue)
                            .findFirst()
                            .orElse(null);
        });
    }

    /** A job with this context in place of its own; one that has no room for more headers stays as it is. */
    public <T> JobSpec<T> into(JobSpec<T> spec) {
        JobSpec<T> traced = spec;
        try {
            for (Map.Entry<String, String> header : headers().entrySet()) {
                traced = traced.header(header.getKey(), header.getValue());
            }
            return traced;
        } catch (IllegalArgumentException full) {
            return spec;
        }
    }

    /** Whether there is no trace. */
    public boolean isNone() {
        return parent.isEmpty();
    }

    /** Headers to send along: none, traceparent, or both. */
    public Map<String, String> headers() {
        if (isNone()) {
            return Map.of();
        }
        return state.isEmpty() ? Map.of(PARENT, parent) : Map.of(PARENT, parent, STATE, state);
    }
}

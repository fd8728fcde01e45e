package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An answer that says what is wrong and what to do (RFC 9457). Thrown where it is found; costs no stack trace, for it is no bug. Text of callers
 * inside its detail is cut and escaped by whoever put it there.
 */
final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ProblemType type;
    private final String detail;
    private final LinkedHashMap<String, Object> members = new LinkedHashMap<>();
    private final LinkedHashMap<String, String> headers = new LinkedHashMap<>();

    Problem(ProblemType type, String detail) {
        super(detail, null, false, false);
        this.type = type;
        this.detail = detail;
    }

    /** A value in the body that is wrong; {@code pointer} is its place (RFC 6901), "" = the whole. */
    static Problem at(ProblemType type, String pointer, String detail) {
        return new Problem(type, detail).with("pointer", pointer);
    }

    /** One that passes: the caller is to wait so long. */
    static Problem passing(ProblemType type, String detail, long retryAfterSeconds) {
        return new Problem(type, detail).header("Retry-After", Long.toString(retryAfterSeconds));
    }

    /** With one more member of its body; null adds none. */
    Problem with(String name, @Nullable Object value) {
        if (value != null) {
            members.put(name, value);
        }
        return this;
    }

    /** With one more header of its answer. */
    Problem header(String name, String value) {
        headers.put(name, value);
        return this;
    }

    ProblemType type() {
        return type;
    }

    Map<String, String> headers() {
        return headers;
    }

    /** Fills a body. */
    ObjectNode fill(ObjectNode body) {
        body.put("type", type.uri());
        body.put("title", type.title());
        body.put("status", type.status());
        body.put("detail", detail);
        body.put("remedy", type.remedy());
        members.forEach(body::putPOJO);
        return body;
    }
}

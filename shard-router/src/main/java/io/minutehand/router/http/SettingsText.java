package io.minutehand.router.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.job.Allowed;
import io.minutehand.core.job.Limits;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.TopicSettings;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settings of a topic as JSON: durations in ISO-8601. Stateless. */
final class SettingsText {
    private SettingsText() {}

    static ObjectNode fill(ObjectNode body, TopicSettings settings) {
        body.put("shards", settings.shards());
        body.put("visibility", settings.visibility().toString());
        body.put("handlerTimeout", settings.handlerTimeout().toString());
        body.put("retention", settings.retention().toString());
        body.put("deadLimit", settings.deadLimit());
        body.put("deadAge", settings.deadAge().toString());
        body.put("delivery", settings.delivery().name());
        RetryPolicy retry = settings.retry();
        body.putObject("retry")
                .put("kind", retry.kind().name())
                .put("retries", retry.retries())
                .put("first", retry.first().toString())
                .put("max", retry.max().toString())
                .put("jitter", retry.jitter());
        return body;
    }

    /**
     * The settings with what a document changes of them.
     *
     * @throws Problem that points to what is wrong
     */
    static TopicSettings merge(TopicSettings base, ObjectNode changes) {
        TopicSettings settings = base;
        Iterator<Map.Entry<String, JsonNode>> fields = changes.fields();
        while (fields.hasNext()) {
            Map.Entry<String, JsonNode> field = fields.next();
            String at = "/" + field.getKey();
            JsonNode value = field.getValue();
            try {
                settings = switch (field.getKey()) {
                    case "shards" -> settings.withShards(whole(at, value));
                    case "visibility" -> settings.withVisibility(duration(at, value));
                    case "handlerTimeout" -> settings.withHandlerTimeout(duration(at, value));
                    case "retention" -> settings.withRetention(duration(at, value));
                    case "deadLimit" -> settings.withDeadLimit(whole(at, value));
                    case "deadAge" -> settings.withDeadAge(duration(at, value));
                    case "delivery" -> settings.withDelivery(constant(at, value, Delivery.class));
                    case "retry" -> settings.withRetry(retry(at, settings.retry(), value));
                    default ->
                        throw Problem.at(
                                ProblemType.INVALID_REQUEST,
                                "",
                                "\"" + Json.shown(field.getKey())
                                        + "\" is no setting; there are shards, visibility, handlerTimeout,"
                                        + " retention, deadLimit, deadAge, delivery, retry");
                };
            } catch (IllegalArgumentException beyond) {
                throw Problem.at(ProblemType.INVALID_REQUEST, at, String.valueOf(beyond.getMessage()));
            }
        }
        return settings;
    }

    private static RetryPolicy retry(String at, RetryPolicy base, JsonNode changes) {
        if (!changes.isObject()) {
            throw Problem.at(ProblemType.MALFORMED_REQUEST, at, "expected is an object");
        }
        RetryPolicy.Kind kind = base.kind();
        int retries = base.retries();
        Duration first = base.first();
        Duration max = base.max();
        double jitter = base.jitter();
        Iterator<Map.Entry<String, JsonNode>> fields = changes.fields();
        while (fields.hasNext()) {
            Map.Entry<String, JsonNode> field = fields.next();
            String there = at + "/" + field.getKey();
            JsonNode value = field.getValue();
            switch (field.getKey()) {
                case "kind" -> kind = constant(there, value, RetryPolicy.Kind.class);
                case "retries" -> retries = whole(there, value);
                case "first" -> first = duration(there, value);
                case "max" -> max = duration(there, value);
                case "jitter" -> {
                    if (!value.isNumber()) {
                        throw Problem.at(ProblemType.MALFORMED_REQUEST, there, "expected is a number from 0 to 1");
                    }
                    jitter = value.asDouble();
                }
                default ->
                    throw Problem.at(
                            ProblemType.INVALID_REQUEST,
                            at,
                            "\"" + Json.shown(field.getKey())
                                    + "\" has no meaning here; there are kind, retries, first, max, jitter");
            }
        }
        return new RetryPolicy(kind, retries, first, max, jitter);
    }

    /** How long a topic is paused, or null = until it is resumed. */
    static @Nullable Duration pause(ObjectNode body) {
        Duration pause = null;
        Iterator<Map.Entry<String, JsonNode>> fields = body.fields();
        while (fields.hasNext()) {
            Map.Entry<String, JsonNode> field = fields.next();
            if (!field.getKey().equals("for")) {
                throw Problem.at(
                        ProblemType.INVALID_REQUEST,
                        "",
                        "\"" + Json.shown(field.getKey()) + "\" has no meaning here; there is for");
            }
            pause = duration("/for", field.getValue());
            try {
                Allowed.requireWithin("pause", pause, Duration.ofMillis(1), Limits.HORIZON);
            } catch (IllegalArgumentException beyond) {
                throw Problem.at(ProblemType.INVALID_REQUEST, "/for", String.valueOf(beyond.getMessage()));
            }
        }
        return pause;
    }

    private static int whole(String at, JsonNode value) {
        if (!value.isInt()) {
            throw Problem.at(ProblemType.MALFORMED_REQUEST, at, "expected is a whole number");
        }
        return value.asInt();
    }

    private static Duration duration(String at, JsonNode value) {
        try {
            if (value.isTextual()) {
                return Duration.parse(value.asText());
            }
        } catch (DateTimeException malformed) {
            // Said below.
        }
        throw Problem.at(ProblemType.MALFORMED_REQUEST, at, "expected is a duration like \"PT30S\"");
    }

    private static <E extends Enum<E>> E constant(String at, JsonNode value, Class<E> type) {
        for (E constant : type.getEnumConstants()) {
            if (value.isTextual() && constant.name().equals(value.asText())) {
                return constant;
            }
        }
        throw Problem.at(
                ProblemType.MALFORMED_REQUEST, at, "expected is one of " + Arrays.toString(type.getEnumConstants()));
    }
}

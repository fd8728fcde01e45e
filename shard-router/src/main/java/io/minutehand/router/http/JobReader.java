package io.minutehand.router.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.job.TopicName;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes jobs of JSON. A payload is taken as it is written, byte by byte: it is checked to be JSON and not read. What is wrong is a {@link Problem}
 * that points to it. Immutable, thread-safe.
 */
final class JobReader {
    private static final byte[] NOTHING = {};
    private static final int TIME_CHARS = 64;

    private final int payloadBytes;

    JobReader(int payloadBytes) {
        this.payloadBytes = payloadBytes;
    }

    /**
     * A job that somebody wants.
     *
     * @param topic its topic, or null where the document does not name one
     * @param spec the rest; without an id one is made when it is scheduled
     */
    record Wanted(@Nullable String topic, JobSpec<byte[]> spec) {}

    /**
     * Another time for a job; one of the two is given.
     *
     * @param delay from now
     * @param dueAt at this instant
     */
    record When(@Nullable Duration delay, @Nullable Instant dueAt) {}

    /**
     * An id under which a job can be found again.
     *
     * @throws IllegalArgumentException when it is none
     */
    static String id(String given) {
        return requireSegment("job id", JobId.require(given));
    }

    private static String topic(String given) {
        return requireSegment("topic", TopicName.require(given));
    }

    /** Paths lose these two (RFC 3986, section 5.2.4), escaped or not: what has such a name could be stored, but never be shown, cancelled or moved. */
    private static String requireSegment(String what, String name) {
        if (name.equals(".") || name.equals("..")) {
            throw new IllegalArgumentException(what + " \"" + name + "\" cannot be named by a path");
        }
        return name;
    }

    /** A job of a topic that the path names. */
    JobSpec<byte[]> job(byte[] json) {
        return Json.read(
                json,
                parser -> new Fields(json, "", false).read(parser).wanted().spec());
    }

    /** A job that names its topic. */
    Wanted jobWithTopic(byte[] json) {
        return Json.read(json, parser -> new Fields(json, "", true).read(parser).wanted());
    }

    /** A new time: an object with {@code delay} or {@code dueAt} and nothing else. */
    When when(byte[] json) {
        return Json.read(json, parser -> {
            Fields fields = new Fields(json, "", false);
            fields.onlyTime = true;
            fields.read(parser);
            if (fields.delay == null && fields.dueAt == null) {
                throw Problem.at(
                        ProblemType.INVALID_REQUEST,
                        "",
                        "neither \"delay\" nor \"dueAt\" is given: one of them can be changed");
            }
            return new When(fields.delay, fields.dueAt);
        });
    }

    /** The members of one object. */
    private final class Fields {
        private final byte[] json;
        private final String root;
        private final boolean withTopic;
        private boolean onlyTime;

        private @Nullable String topic;
        private @Nullable String id;
        private @Nullable String businessId;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private byte @Nullable [] payload;
        private @Nullable Duration delay;
        private @Nullable Instant dueAt;
        private boolean replace;

        Fields(byte[] json, String root, boolean withTopic) {
            this.json = json;
            this.root = root;
            this.withTopic = withTopic;
        }

        Fields read(JsonParser parser) throws IOException {
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                throw Problem.at(ProblemType.MALFORMED_REQUEST, root, "expected is a JSON object");
            }
            String name;
            while ((name = parser.nextFieldName()) != null) {
                JsonToken token = parser.nextToken();
                boolean time = name.equals("delay") || name.equals("dueAt");
                if (onlyTime && !time) {
                    throw unknown(name, "\"delay\" or \"dueAt\"");
                }
                switch (name) {
                    case "payload" -> payload = slice(parser, token);
                    case "payloadBase64" -> payload = base64(text(parser, token, name));
                    case "id" -> id = checked(name, JobReader::id, text(parser, token, name));
                    case "delay" -> delay = delay(parser, token);
                    case "dueAt" -> dueAt = dueAt(parser, token);
                    case "businessId" -> businessId = plain(name, text(parser, token, name));
                    case "headers" -> headers(parser, token);
                    case "replace" -> replace = flag(parser, token, name);
                    case "topic" -> {
                        if (!withTopic) {
                            throw unknown(name, "the topic in the path");
                        }
                        topic = checked(name, JobReader::topic, text(parser, token, name));
                    }
                    default ->
                        throw unknown(
                                name,
                                "id, businessId, headers, payload, payloadBase64, delay, dueAt, replace"
                                        + (withTopic ? ", topic" : ""));
                }
            }
            if (delay != null && dueAt != null) {
                throw Problem.at(
                        ProblemType.INVALID_REQUEST,
                        root + "/dueAt",
                        "both \"delay\" and \"dueAt\" are given: leave one out");
            }
            return this;
        }

        Wanted wanted() {
            JobSpec<byte[]> spec = JobSpec.of(payload == null ? NOTHING : payload);
            try {
                spec = id == null ? spec : spec.id(id);
                spec = businessId == null ? spec : spec.businessId(businessId);
                for (Map.Entry<String, String> header : headers.entrySet()) {
                    spec = spec.header(header.getKey(), header.getValue());
                }
            } catch (IllegalArgumentException beyond) {
                throw Problem.at(ProblemType.INVALID_REQUEST, root, String.valueOf(beyond.getMessage()));
            }
            Duration after = delay;
            Instant at = dueAt;
            spec = after != null ? spec.after(after) : at != null ? spec.at(at) : spec;
            return new Wanted(topic, replace ? spec.replacing() : spec);
        }

        private Problem unknown(String name, String instead) {
            return Problem.at(
                    ProblemType.INVALID_REQUEST,
                    root,
                    "\"" + Json.shown(name) + "\" has no meaning here; expected is " + instead);
        }

        private Problem wrong(String name, String expected) {
            return Problem.at(ProblemType.MALFORMED_REQUEST, root + "/" + name, "\"" + name + "\" is not " + expected);
        }

        private String text(JsonParser parser, JsonToken token, String name) throws IOException {
            if (token != JsonToken.VALUE_STRING) {
                throw wrong(name, "a string");
            }
            return parser.getText();
        }

        private boolean flag(JsonParser parser, JsonToken token, String name) {
            if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
                throw wrong(name, "true or false");
            }
            return token == JsonToken.VALUE_TRUE;
        }

        private interface Rule {
            String require(String value);
        }

        private String checked(String name, Rule rule, String value) {
            try {
                return rule.require(value);
            } catch (IllegalArgumentException refused) {
                throw Problem.at(
                        ProblemType.MALFORMED_REQUEST, root + "/" + name, String.valueOf(refused.getMessage()));
            }
        }

        /** What goes into log lines and other people's headers: no control characters, nothing that is not Unicode. */
        private String plain(String name, String value) {
            for (int i = 0; i < value.length(); i++) {
                char c = value.charAt(i);
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < value.length()
                        && Character.isLowSurrogate(value.charAt(i + 1));
                if (pair) {
                    i++;
                } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
                    throw Problem.at(
                            ProblemType.MALFORMED_REQUEST,
                            root + "/" + name,
                            "\"" + Json.shown(name) + "\" holds " + Json.shown(String.valueOf(c)) + " at position " + i
                                    + ": control characters and half surrogate pairs are not allowed");
                }
            }
            return value;
        }

        private void headers(JsonParser parser, JsonToken token) throws IOException {
            if (token != JsonToken.START_OBJECT) {
                throw wrong("headers", "an object of strings");
            }
            String name;
            while ((name = parser.nextFieldName()) != null) {
                if (parser.nextToken() != JsonToken.VALUE_STRING || name.isEmpty()) {
                    throw wrong("headers", "an object of strings with names");
                }
                if (headers.size() == Limits.HEADERS) {
                    throw Problem.at(
                            ProblemType.INVALID_REQUEST,
                            root + "/headers",
                            "more than " + Limits.HEADERS + " headers, the most that are allowed");
                }
                headers.put(plain("headers", name), plain("headers", parser.getText()));
            }
        }

        private byte[] onlyOne(byte[] bytes) {
            if (payload != null) {
                throw Problem.at(
                        ProblemType.INVALID_REQUEST,
                        root + "/payloadBase64",
                        "both \"payload\" and \"payloadBase64\" are given: leave one out");
            }
            if (bytes.length > payloadBytes) {
                throw Problem.at(
                        ProblemType.PAYLOAD_TOO_LARGE,
                        root + "/payload",
                        "the payload has " + bytes.length + " bytes, allowed are at most " + payloadBytes);
            }
            return bytes;
        }

        private byte[] slice(JsonParser parser, JsonToken token) throws IOException {
            int from = (int) parser.currentTokenLocation().getByteOffset();
            if (token.isStructStart()) {
                parser.skipChildren();
            } else {
                parser.finishToken();
                if (token.isNumeric()) {
                    parser.getNumberType(); // checks its length
                }
            }
            return onlyOne(Arrays.copyOfRange(
                    json, from, (int) parser.currentLocation().getByteOffset()));
        }

        private byte[] base64(String text) {
            try {
                return onlyOne(Base64.getDecoder().decode(text));
            } catch (IllegalArgumentException malformed) {
                throw wrong("payloadBase64", "Base64 (RFC 4648, section 4)");
            }
        }

        private Duration delay(JsonParser parser, JsonToken token) throws IOException {
            Duration wanted;
            if (token == JsonToken.VALUE_NUMBER_INT) {
                wanted = Duration.ofMillis(whole(parser, "delay"));
            } else if (token == JsonToken.VALUE_STRING && parser.getTextLength() <= TIME_CHARS) {
                try {
                    wanted = Duration.parse(parser.getText());
                } catch (DateTimeException malformed) {
                    throw wrong("delay", "a duration like PT30M, or whole milliseconds");
                }
            } else {
                throw wrong("delay", "a duration like \"PT30M\", or whole milliseconds");
            }
            if (wanted.compareTo(Limits.HORIZON) > 0) {
                throw Problem.at(
                        ProblemType.INVALID_REQUEST,
                        root + "/delay",
                        "a delay of " + wanted + " is longer than " + Limits.HORIZON + ", the most that is allowed");
            }
            return wanted;
        }

        private Instant dueAt(JsonParser parser, JsonToken token) throws IOException {
            if (token == JsonToken.VALUE_NUMBER_INT) {
                return Instant.ofEpochMilli(whole(parser, "dueAt"));
            }
            if (token == JsonToken.VALUE_STRING && parser.getTextLength() <= TIME_CHARS) {
                try {
                    return OffsetDateTime.parse(parser.getText()).toInstant();
                } catch (DateTimeException malformed) {
                    // Said below.
                }
            }
            throw wrong("dueAt", "a time like \"2030-01-31T09:00:00+01:00\", or whole milliseconds since 1970");
        }

        private long whole(JsonParser parser, String name) throws IOException {
            JsonParser.NumberType type = parser.getNumberType();
            if (type != JsonParser.NumberType.INT && type != JsonParser.NumberType.LONG) {
                throw wrong(name, "a number of this magnitude");
            }
            return parser.getLongValue();
        }
    }
}

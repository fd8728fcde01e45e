package io.minutehand.router.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.admin.Admin;
import io.minutehand.core.admin.DeadLetters;
import io.minutehand.core.admin.DeadLetters.DeadLetter;
import io.minutehand.core.admin.DeadLetters.Result;
import io.minutehand.core.admin.DeadLetters.Selector;
import io.minutehand.core.job.Job;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code /v1/topics/{topic}/dead-letters}: which there are and why; another life for them, or their end. */
final class DeadLettersResource {
    private static final Set<String> JSON = Set.of(Call.JSON);
    private static final int BODY_BYTES = 16 * 1024;
    private static final int REASON_CHARS = 512;
    private static final int PER_SECOND = 1000;
    private static final int MOST_PER_SECOND = 100_000;

    /** A call ends after so long; what is left is said, and another call goes on. */
    private static final Duration WITHIN = Duration.ofSeconds(20);

    private final Topics topics;
    private final Admin admin;
    private final Blocking blocking;
    private final Bodies bodies;

    DeadLettersResource(Topics topics, Admin admin, Blocking blocking, Bodies bodies) {
        this.topics = topics;
        this.admin = admin;
        this.blocking = blocking;
        this.bodies = bodies;
    }

    /** GET: the oldest of each shard first, without their payloads. */
    void list(Call call) {
        String name = call.topic();
        int limit = call.query("limit", 100, 1, 1000);
        String reason = call.query("reason");
        call.when(
                topics.stored(name),
                topic -> blocking.answer(call, () -> {
                    ObjectNode body = Json.MAPPER.createObjectNode().put("topic", name);
                    ArrayNode letters = body.putArray("deadLetters");
                    boolean[] more = new boolean[1];
                    admin.deadLetters(topic).forEach(new Selector(null, reason), letter -> {
                        more[0] = letters.size() == limit;
                        if (!more[0]) {
                            fill(letters.addObject(), letter);
                        }
                        return !more[0];
                    });
                    body.put("more", more[0]);
                    return body;
                }));
    }

    private static ObjectNode fill(ObjectNode body, DeadLetter letter) {
        body.put("id", letter.id());
        body.put("diedAt", letter.diedAt().toString());
        body.put("readable", letter.letter().readable());
        if (letter.letter().readable()) {
            body.put("attempt", letter.letter().attempt());
            body.put("dueAt", letter.letter().dueAt().toString());
            body.put("createdAt", letter.letter().createdAt().toString());
            body.put("reason", letter.letter().reason());
        }
        return body;
    }

    /** GET /{id}: with its payload. */
    void show(Call call) {
        String name = call.topic();
        String id = call.id();
        call.when(
                topics.stored(name),
                topic -> blocking.answer(call, () -> {
                    DeadLetters letters = admin.deadLetters(topic);
                    DeadLetter letter = letters.find(id).orElseThrow(() -> none(name, id));
                    ObjectNode body = fill(Json.MAPPER.createObjectNode(), letter);
                    if (letter.letter().readable()) {
                        Optional<Job> job = letters.job(letter);
                        JobText.fill(body.putObject("job"), job.orElseThrow(() -> none(name, id)));
                    }
                    return body;
                }));
    }

    private static Problem none(String topic, String id) {
        return new Problem(ProblemType.JOB_NOT_FOUND, "topic " + topic + " has no dead letter " + id)
                .with("topic", topic)
                .with("id", id);
    }

    /** POST :redrive: due now, first attempt, same id and payload. */
    void redrive(Call call) {
        act(call, (letters, order) -> letters.redrive(order.selector(), order.perSecond(), WITHIN));
    }

    /** POST :purge: forgotten for good. */
    void purge(Call call) {
        act(call, (letters, order) -> letters.purge(order.selector(), order.perSecond(), WITHIN));
    }

    private interface Act {
        Result on(DeadLetters letters, Order order);
    }

    /** What is to be done to which letters. */
    private record Order(Selector selector, int perSecond, boolean dryRun) {}

    private void act(Call call, Act act) {
        String name = call.topic();
        bodies.read(call, JSON, BODY_BYTES, json -> {
            Order order = order(Json.object(json));
            call.when(
                    topics.stored(name),
                    topic -> blocking.answer(call, () -> {
                        DeadLetters letters = admin.deadLetters(topic);
                        ObjectNode body = Json.MAPPER.createObjectNode().put("topic", name);
                        if (order.dryRun()) {
                            return body.put("matched", letters.count(order.selector()));
                        }
                        Result result = act.on(letters, order);
                        return body.put("done", result.done())
                                .put("missed", result.missed())
                                .put("complete", result.complete());
                    }));
        });
    }

    private static Order order(ObjectNode body) {
        String id = null;
        String reason = null;
        boolean all = false;
        boolean dryRun = false;
        int perSecond = PER_SECOND;
        for (Iterator<String> names = body.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            JsonNode value = body.get(name);
            switch (name) {
                case "id" -> id = text(name, value);
                case "reason" -> reason = text(name, value);
                case "all" -> all = flag(name, value);
                case "dryRun" -> dryRun = flag(name, value);
                case "perSecond" -> {
                    if (!value.isInt() || value.asInt() < 1 || value.asInt() > MOST_PER_SECOND) {
                        throw Problem.at(
                                ProblemType.INVALID_REQUEST,
                                "/perSecond",
                                "allowed are whole numbers from 1 to " + MOST_PER_SECOND);
                    }
                    perSecond = value.asInt();
                }
                default ->
                    throw Problem.at(
                            ProblemType.INVALID_REQUEST,
                            "",
                            "\"" + Json.shown(name)
                                    + "\" has no meaning here; expected is id, reason or all, and perSecond, dryRun");
            }
        }
        if ((id != null ? 1 : 0) + (reason != null ? 1 : 0) + (all ? 1 : 0) != 1) {
            throw Problem.at(
                    ProblemType.INVALID_REQUEST, "", "which letters? Give one of \"id\", \"reason\" and \"all\": true");
        }
        return new Order(selector(id, reason), perSecond, dryRun);
    }

    private static Selector selector(@Nullable String id, @Nullable String reason) {
        try {
            return id != null ? Selector.ofId(id) : new Selector(null, reason);
        } catch (IllegalArgumentException refused) {
            throw Problem.at(ProblemType.MALFORMED_REQUEST, "/id", String.valueOf(refused.getMessage()));
        }
    }

    private static String text(String name, JsonNode value) {
        if (!value.isTextual() || value.asText().isEmpty() || value.asText().length() > REASON_CHARS) {
            throw Problem.at(
                    ProblemType.MALFORMED_REQUEST,
                    "/" + name,
                    "expected is a string of 1 to " + REASON_CHARS + " characters");
        }
        return value.asText();
    }

    private static boolean flag(String name, JsonNode value) {
        if (!value.isBoolean()) {
            throw Problem.at(ProblemType.MALFORMED_REQUEST, "/" + name, "expected is true or false");
        }
        return value.asBoolean();
    }
}

package io.minutehand.router.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.router.http.Items.Outcome;
import io.vertx.core.http.HttpHeaders;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** {@code POST /v1/jobs:batch}: many jobs of any topics, as a JSON array or as a stream of lines, with a result for each. */
final class BatchResource {
    static final String NDJSON = "application/x-ndjson";

    /** Streams at the same time: each holds as much as {@link NdjsonStream} allows. */
    private static final int STREAMS = 64;

    private static final Set<String> TYPES = Set.of(Call.JSON, NDJSON);
    private static final Set<String> ARRAY = Set.of(Call.JSON);

    private final Items items;
    private final Bodies bodies;
    private final HttpSettings settings;
    private final AtomicInteger streams = new AtomicInteger();

    BatchResource(Items items, Bodies bodies, HttpSettings settings) {
        this.items = items;
        this.bodies = bodies;
        this.settings = settings;
    }

    /** POST. */
    void schedule(Call call) {
        if (call.request().getHeader(JobsResource.IDEMPOTENCY_KEY) != null) {
            // Left unread, it would promise what it does not do: jobs without an id would be stored again by a repeat.
            throw new Problem(
                            ProblemType.MALFORMED_REQUEST,
                            "the header " + JobsResource.IDEMPOTENCY_KEY
                                    + " names a single job; give each job of a batch an id, which makes a repeat safe")
                    .with("parameter", JobsResource.IDEMPOTENCY_KEY);
        }
        String type = call.request().getHeader(HttpHeaders.CONTENT_TYPE);
        if (type != null && Bodies.type(type).equals(NDJSON)) {
            Bodies.requireType(call.request(), TYPES);
            stream(call);
        } else {
            Bodies.requireType(call.request(), TYPES);
            bodies.read(call, ARRAY, settings.batchBytes(), body -> array(call, elements(body)));
        }
    }

    private void stream(Call call) {
        call.atEnd(streams::decrementAndGet);
        if (streams.incrementAndGet() > STREAMS) {
            throw Problem.passing(ProblemType.TOO_MANY_REQUESTS, STREAMS + " streams are under way", Call.SOON_S);
        }
        boolean onlyRejected = "rejected".equals(call.query("results"));
        Bodies.allow(call);
        new NdjsonStream(call, items, settings.jobBytes(), onlyRejected).begin();
    }

    /** The elements of an array, each as it is written. */
    private static List<byte[]> elements(byte[] body) {
        return Json.read(body, parser -> {
            if (parser.currentToken() != JsonToken.START_ARRAY) {
                throw Problem.at(
                        ProblemType.MALFORMED_REQUEST, "", "expected is a JSON array of jobs, or lines as " + NDJSON);
            }
            List<byte[]> elements = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (elements.size() == HttpSettings.BATCH_JOBS) {
                    throw new Problem(
                                    ProblemType.PAYLOAD_TOO_LARGE,
                                    "the array has more than " + HttpSettings.BATCH_JOBS
                                            + " jobs; nothing was stored. As " + NDJSON
                                            + " there may be as many as you like")
                            .with("limitJobs", HttpSettings.BATCH_JOBS);
                }
                elements.add(element(parser, body));
            }
            return elements;
        });
    }

    private static byte[] element(JsonParser parser, byte[] body) throws IOException {
        int from = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        parser.finishToken();
        return Arrays.copyOfRange(body, from, (int) parser.currentLocation().getByteOffset());
    }

    private void array(Call call, List<byte[]> elements) {
        Gate.pay(call.key(), Math.max(0, elements.size() - 1));
        List<CompletableFuture<Outcome>> outcomes =
                elements.stream().map(element -> items.schedule(call, element)).toList();
        call.when(CompletableFuture.allOf(outcomes.toArray(CompletableFuture[]::new)), all -> {
            ObjectNode body = Json.MAPPER.createObjectNode();
            ArrayNode results = Json.MAPPER.createArrayNode();
            int accepted = 0;
            for (int i = 0; i < outcomes.size(); i++) {
                accepted +=
                        items.tell(results.addObject(), call, i, outcomes.get(i).join()) ? 1 : 0;
            }
            body.put("accepted", accepted);
            body.put("rejected", outcomes.size() - accepted);
            body.set("results", results);
            call.json(200, body);
        });
    }
}

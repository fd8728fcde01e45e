package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.minutehand.router.http.TestRouter.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/** Holds every answer that a test gets against the document of the API. */
final class Contract {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    static final JsonNode DOCUMENT = read();
    private static final SchemaRegistry REGISTRY =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private static final Map<String, Schema> SCHEMAS = new ConcurrentHashMap<>();

    /** What has been answered: method, path and status. */
    static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

    private Contract() {}

    private static JsonNode read() {
        try (InputStream in = OpenApi.class.getResourceAsStream("openapi.json")) {
            return MAPPER.readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All operations, as {@code GET /path}. */
    static Set<String> operations() {
        Set<String> operations = new TreeSet<>();
        DOCUMENT.path("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(method ->
                                operations.add(method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey())));
        return operations;
    }

    static void check(String method, String target, Answer answer) {
        String path = target.replaceFirst("\\?.*", "");
        JsonNode operation = null;
        String template = "";
        for (Map.Entry<String, JsonNode> entry : DOCUMENT.path("paths").properties()) {
            if (path.matches(entry.getKey().replaceAll("\\{\\w+}", "[^/]+"))
                    && entry.getValue().has(method.toLowerCase(java.util.Locale.ROOT))) {
                operation = entry.getValue().path(method.toLowerCase(java.util.Locale.ROOT));
                template = entry.getKey();
            }
        }
        String what = method + " " + target + ": " + answer;
        if (operation == null) {
            assertThat(answer.status()).as("no operation: %s", what).isIn(400, 404, 405, 414);
            requireValid(what, problemSchema(), answer.body());
            return;
        }
        JsonNode response = operation.path("responses").path(Integer.toString(answer.status()));
        assertThat(response.isMissingNode()).as("not in the document: %s", what).isFalse();
        JsonNode resolved = response.has("$ref")
                ? DOCUMENT.at(response.path("$ref").asText().substring(1))
                : response;
        String type = answer.header("Content-Type");
        JsonNode content = resolved.path("content").path(type);
        assertThat(content.isMissingNode())
                .as("content type not in the document: %s", what)
                .isFalse();
        Schema schema = schema(content.path("schema"));
        if (type.equals(BatchResource.NDJSON)) {
            for (JsonNode line : lines(answer)) {
                requireValid(what, schema, line);
            }
        } else {
            requireValid(what, schema, answer.body());
        }
        SEEN.add(method + " " + template + " " + answer.status());
    }

    private static List<JsonNode> lines(Answer answer) {
        List<JsonNode> lines = new ArrayList<>();
        try {
            for (String line : new String(answer.response().body(), StandardCharsets.UTF_8).split("\n")) {
                lines.add(MAPPER.readTree(line));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return lines;
    }

    private static Schema problemSchema() {
        return schema(MAPPER.createObjectNode().put("$ref", "#/components/schemas/Problem"));
    }

    private static Schema schema(JsonNode of) {
        return SCHEMAS.computeIfAbsent(of.toString(), text -> {
            ObjectNode whole = ((ObjectNode) of).deepCopy();
            whole.set("components", DOCUMENT.path("components"));
            return REGISTRY.getSchema(whole);
        });
    }

    private static void requireValid(String what, Schema schema, JsonNode body) {
        List<Error> errors = schema.validate(body);
        assertThat(errors).as("%s", what).isEmpty();
    }
}

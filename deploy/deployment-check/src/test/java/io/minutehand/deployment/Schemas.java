package io.minutehand.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** A JSON schema of the folder {@code schemas}. */
final class Schemas {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final SchemaRegistry REGISTRY = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7);
    private static final Map<String, Schemas> LOADED = new ConcurrentHashMap<>();

    private final Schema schema;

    private Schemas(JsonNode document) {
        this.schema = REGISTRY.getSchema(document);
    }

    /** An error: where in the document, and what. */
    record At(String where, String what) {}

    static Schemas named(String file) {
        return LOADED.computeIfAbsent(file, name -> new Schemas(read(name)));
    }

    private static final class Kubernetes {
        private static final JsonNode DOCUMENT = read("kubernetes.json");
    }

    /** Of a kind of Kubernetes; null for one that is not used here. */
    static Schemas ofKind(String apiVersion, String kind) {
        JsonNode reference = Kubernetes.DOCUMENT.path("kinds").path(apiVersion + " " + kind);
        if (reference.isMissingNode()) {
            return null;
        }
        return LOADED.computeIfAbsent(apiVersion + " " + kind, name -> {
            // Draft 7 looks at nothing beside a reference, so the kind must not be one at the root.
            ObjectNode root = JSON.createObjectNode();
            root.put("$schema", "http://json-schema.org/draft-07/schema#");
            root.putArray("allOf").addObject().set("$ref", reference.get("$ref"));
            root.set("definitions", Kubernetes.DOCUMENT.path("definitions"));
            return new Schemas(root);
        });
    }

    private static JsonNode read(String file) {
        try (InputStream in = Schemas.class.getResourceAsStream("/schemas/" + file)) {
            ObjectNode document = (ObjectNode) JSON.readTree(Objects.requireNonNull(in, file));
            withoutOddities(document);
            document.put("$schema", "http://json-schema.org/draft-07/schema#");
            return document;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Without what is no part of the draft: ids (nothing refers to them; a property that is called so is no text), and the durations of Compose, which are
     * not those of JSON schema.
     */
    private static void withoutOddities(JsonNode schema) {
        if (schema.path("format").asText().equals("duration")) {
            ((ObjectNode) schema).remove("format");
        }
        for (String id : List.of("$id", "id")) {
            if (schema.path(id).isTextual()) {
                ((ObjectNode) schema).remove(id);
            }
        }
        schema.forEach(Schemas::withoutOddities);
    }

    List<At> errors(JsonNode document) {
        return schema.validate(document).stream()
                .map(error -> new At(String.valueOf(error.getInstanceLocation()), error.getMessage()))
                .distinct()
                .toList();
    }
}

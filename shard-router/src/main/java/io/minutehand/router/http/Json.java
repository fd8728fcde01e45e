package io.minutehand.router.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * JSON of strangers, read strictly: UTF-8 and nothing else, no name twice in an object, nothing behind the end, bounded depth, names and numbers.
 * Stateless.
 */
final class Json {
    /** Objects and arrays inside one another, the outermost counted. */
    static final int DEPTH = 32;

    private static final int NUMBER_CHARS = 40;
    private static final int NAME_CHARS = 128;
    private static final int SHOWN_CHARS = 60;

    private static final JsonFactory STRICT = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH)
                    .maxNumberLength(NUMBER_CHARS)
                    .maxNameLength(NAME_CHARS)
                    .maxStringLength(Integer.MAX_VALUE) // bodies are bounded
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // Else a body that begins with a zero byte would be read as UTF-16 or UTF-32.
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    static final ObjectMapper MAPPER = JsonMapper.builder().build();

    private static final ObjectMapper STRICT_MAPPER = JsonMapper.builder(STRICT).build();

    private Json() {}

    /** What reads values at a parser. */
    interface Reader<T> {
        T read(JsonParser parser) throws IOException;
    }

    /**
     * Reads a whole document, from its first token to its end.
     *
     * @throws Problem (malformed) when it is no such document
     */
    static <T> T read(byte[] bytes, Reader<T> reader) {
        requireUtf8(bytes);
        try (JsonParser parser = STRICT.createParser(bytes)) {
            if (parser.nextToken() == null) {
                throw Problem.at(ProblemType.MALFORMED_REQUEST, "", "the body is empty, expected is JSON");
            }
            T value = reader.read(parser);
            if (parser.nextToken() != null) {
                throw Problem.at(ProblemType.MALFORMED_REQUEST, "", "something follows the end of the JSON value");
            }
            return value;
        } catch (StreamConstraintsException beyond) {
            throw Problem.at(ProblemType.MALFORMED_REQUEST, "", "the JSON is beyond a limit: " + limit(beyond));
        } catch (JsonProcessingException malformed) {
            throw Problem.at(
                    ProblemType.MALFORMED_REQUEST,
                    "",
                    "not JSON" + where(malformed.getLocation()) + ": " + shown(malformed.getOriginalMessage()));
        } catch (IOException impossible) {
            throw new IllegalStateException("reading from memory failed", impossible);
        }
    }

    /** Reads a document that is an object, as a tree. */
    static ObjectNode object(byte[] bytes) {
        return read(bytes, parser -> {
            JsonNode tree = STRICT_MAPPER.readTree(parser);
            if (tree instanceof ObjectNode object) {
                return object;
            }
            throw Problem.at(ProblemType.MALFORMED_REQUEST, "", "expected is a JSON object");
        });
    }

    private static String limit(StreamConstraintsException beyond) {
        String message = String.valueOf(beyond.getOriginalMessage());
        return message.contains("depth")
                ? "more than " + DEPTH + " objects and arrays inside one another"
                : message.contains("Number")
                        ? "a number of more than " + NUMBER_CHARS + " characters"
                        : message.contains("ame")
                                ? "a name of more than " + NAME_CHARS + " characters"
                                : shown(message);
    }

    private static String where(JsonLocation at) {
        return at == null ? "" : " at line " + at.getLineNr() + " column " + at.getColumnNr();
    }

    private static void requireUtf8(byte[] bytes) {
        for (byte b : bytes) {
            if (b < 0) {
                try {
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
                    return;
                } catch (CharacterCodingException malformed) {
                    throw Problem.at(ProblemType.MALFORMED_REQUEST, "", "the body is not UTF-8");
                }
            }
        }
    }

    /** Text of a stranger for a detail: cut, in plain ASCII. */
    static String shown(String text) {
        return shown(text, SHOWN_CHARS);
    }

    /** A message in one line, whole, in plain ASCII. */
    static String line(String text) {
        return shown(text, Integer.MAX_VALUE);
    }

    private static String shown(String text, int most) {
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < Math.min(text.length(), most); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                shown.append(String.format("\\u%04x", (int) c));
            } else {
                shown.append(c);
            }
        }
        return shown.append(text.length() > most ? "..." : "").toString();
    }
}

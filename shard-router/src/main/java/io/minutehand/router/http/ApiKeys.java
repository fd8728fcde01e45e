package io.minutehand.router.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of a file, read again when it changes. Keys are 256 random bits, so one round of SHA-256 hides them as well as many would; they are
 * found by the id in front and compared in constant time. A file that cannot be read changes nothing: the keys before stay. Thread-safe.
 *
 * <p>The file: {@code {"keys": [{"id": "orders", "sha256": "hexadecimal digits", "scopes": ["produce:orders.*"], "rate": 1000, "burst": 2000,
 * "expires": "2030-01-01T00:00:00Z"}]}}; the last three may be missing. Two entries may have the same id: both keys are valid, while one replaces
 * the other.
 */
final class ApiKeys {
    private static final Logger log = LoggerFactory.getLogger(ApiKeys.class);
    private static final String PREFIX = "mh_";
    private static final int SECRET_BYTES = 32;
    private static final int MOST_RATE = 1_000_000;
    private static final byte[] NO_HASH = new byte[SECRET_BYTES];

    private final Path file;
    private volatile Map<String, List<ApiKey>> byId;
    private volatile FileTime changed;
    private volatile long size;

    private ApiKeys(Path file) throws IOException {
        this.file = file;
        this.changed = Files.getLastModifiedTime(file);
        this.size = Files.size(file);
        this.byId = read(file, Map.of());
    }

    /**
     * Reads the file.
     *
     * @throws IllegalArgumentException when it cannot be read, or holds no keys
     */
    static ApiKeys of(Path file) {
        try {
            return new ApiKeys(file);
        } catch (IOException | Problem unreadable) {
            throw new IllegalArgumentException("key file " + file + " cannot be read: " + why(unreadable), unreadable);
        }
    }

    /**
     * Reads the file again if it has changed. Blocks.
     *
     * @return what is wrong with it, or null
     */
    @Nullable
    String refresh() {
        try {
            FileTime now = Files.getLastModifiedTime(file);
            long nowBytes = Files.size(file);
            if (!now.equals(changed) || nowBytes != size) {
                byId = read(file, byId);
                changed = now;
                size = nowBytes;
                log.info("router: read keys again file={} ids={}", file, byId.keySet());
            }
            return null;
        } catch (IOException | IllegalArgumentException | Problem unreadable) {
            log.error(
                    "router: the key file cannot be read, the keys before stay file={} cause={}",
                    file,
                    why(unreadable));
            return "the key file cannot be read: the keys before stay";
        }
    }

    /** The message of a file that is missing is its name alone. */
    private static String why(Exception unreadable) {
        return unreadable instanceof IOException ? unreadable.toString() : String.valueOf(unreadable.getMessage());
    }

    private static Map<String, List<ApiKey>> read(Path file, Map<String, List<ApiKey>> before) throws IOException {
        Map<String, List<ApiKey>> keys = read(Json.object(Files.readAllBytes(file)), before);
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("key file " + file + " holds no keys");
        }
        return keys;
    }

    /**
     * Checks what is to become the file.
     *
     * @throws IllegalArgumentException that names the key of which a router would refuse the whole file
     */
    static void requireReadable(ObjectNode document) {
        read(document, Map.of());
    }

    private static Map<String, List<ApiKey>> read(ObjectNode document, Map<String, List<ApiKey>> before) {
        List<ApiKey> keys = new ArrayList<>();
        for (JsonNode entry : document.path("keys")) {
            keys.add(key(entry, before));
        }
        return keys.stream().collect(Collectors.groupingBy(ApiKey::id));
    }

    private static ApiKey key(JsonNode entry, Map<String, List<ApiKey>> before) {
        String id = entry.path("id").asText();
        try {
            requireId(id);
            byte[] sha256 = HexFormat.of().parseHex(entry.path("sha256").asText());
            if (sha256.length != SECRET_BYTES) {
                throw new IllegalArgumentException(
                        "sha256 has " + sha256.length + " bytes, needed are " + SECRET_BYTES);
            }
            List<Scope> scopes = new ArrayList<>();
            entry.path("scopes").forEach(scope -> scopes.add(Scope.of(scope.asText())));
            if (scopes.isEmpty()) {
                throw new IllegalArgumentException("it has no scopes");
            }
            int rate = number(entry, "rate", 0);
            int burst = number(entry, "burst", Math.max(1, rate));
            Instant expires =
                    entry.has("expires") ? Instant.parse(entry.path("expires").asText()) : null;
            ApiKey key =
                    new ApiKey(id, sha256, List.copyOf(scopes), expires, rate == 0 ? null : new RateLimit(rate, burst));
            ApiKey old = before.getOrDefault(id, List.of()).stream()
                    .filter(other -> MessageDigest.isEqual(other.sha256(), sha256))
                    .findFirst()
                    .orElse(null);
            // What a key has used up of its rate is not given back by a change of the file.
            RateLimit used = old == null ? null : old.limit();
            return used == null || rate == 0
                    ? key
                    : new ApiKey(id, sha256, key.scopes(), expires, used.changed(rate, burst, System.nanoTime()));
        } catch (IllegalArgumentException | DateTimeException refused) {
            throw new IllegalArgumentException("key \"" + Json.shown(id) + "\": " + refused.getMessage(), refused);
        }
    }

    private static int number(JsonNode entry, String name, int otherwise) {
        JsonNode value = entry.path(name);
        if (value.isMissingNode()) {
            return otherwise;
        }
        if (!value.isInt() || value.asInt() < 1 || value.asInt() > MOST_RATE) {
            throw new IllegalArgumentException(name + "=" + value + ", allowed are 1 to " + MOST_RATE);
        }
        return value.asInt();
    }

    private static String requireId(String id) {
        if (!id.matches("[a-z0-9-]{1,32}")) {
            throw new IllegalArgumentException("its id is not of the form [a-z0-9-]{1,32}");
        }
        return id;
    }

    /**
     * The key that was sent.
     *
     * @param sent the whole key
     * @throws Problem (401) when it is none, or not valid any more
     */
    ApiKey require(String sent) {
        int end = sent.startsWith(PREFIX) ? sent.indexOf('_', PREFIX.length()) : -1;
        String id = end < 0 ? "" : sent.substring(PREFIX.length(), end);
        byte[] hash = sha256(sent);
        ApiKey found = null;
        // An id that nobody has costs as much as one that somebody has.
        for (ApiKey key : byId.getOrDefault(id, List.of(ApiKey.ANYBODY))) {
            byte[] expected = key.sha256().length == 0 ? NO_HASH : key.sha256();
            if (MessageDigest.isEqual(hash, expected) && key.sha256().length != 0) {
                found = key;
            }
        }
        if (found == null || isOver(found)) {
            throw challenge(ProblemType.INVALID_KEY, "the key is not known, or has expired");
        }
        return found;
    }

    /**
     * A key that was admitted before, as it stands in the file now: for a request that lasts.
     *
     * @throws Problem (401) when it is not in the file any more, or has expired
     */
    ApiKey again(ApiKey admitted) {
        for (ApiKey key : byId.getOrDefault(admitted.id(), List.of())) {
            if (MessageDigest.isEqual(key.sha256(), admitted.sha256()) && !isOver(key)) {
                return key;
            }
        }
        throw challenge(ProblemType.INVALID_KEY, "the key is not valid any more");
    }

    private static boolean isOver(ApiKey key) {
        Instant expires = key.expires();
        return expires != null && !Instant.now().isBefore(expires);
    }

    static Problem challenge(ProblemType type, String detail) {
        return new Problem(type, detail).header("WWW-Authenticate", "Bearer realm=\"minutehand\"");
    }

    /**
     * A key that nobody has, and the entry of the file that makes it valid.
     *
     * @param key to be given to its user, and kept nowhere else
     * @param entry for the file
     */
    record Fresh(String key, ObjectNode entry) {}

    /**
     * Makes a key.
     *
     * @throws IllegalArgumentException when id or scopes are none
     */
    static Fresh fresh(String id, List<String> scopes, @Nullable Integer rate) {
        requireId(id);
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        String key = PREFIX + id + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
        ObjectNode entry = Json.MAPPER.createObjectNode();
        entry.put("id", id);
        entry.put("sha256", HexFormat.of().formatHex(sha256(key)));
        scopes.forEach(scope -> entry.withArray("scopes").add(Scope.of(scope).toString()));
        if (rate != null) {
            entry.put("rate", rate);
        }
        return new Fresh(key, entry);
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}

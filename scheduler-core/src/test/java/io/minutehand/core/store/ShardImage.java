package io.minutehand.core.store;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.redis.RedisCommands;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * All that Redis holds of a shard, as lines of text that can be compared and read: a store test seeds, acts once, and compares the whole image,
 * which catches the write that nobody expected.
 *
 * <p>Members and receipts are shown without the digit of their record hash (a wrong digit shows as {@code !}), times and minutes
 * relative to {@link TestStore#START_MS} ({@code T+500}, {@code M+1}), what is left of a time to live in started minutes, so that tests that
 * take a second more see the same.
 */
final class ShardImage {
    /** All keys of a pattern with type, PTTL and content, in one atomic look. */
    private static final String DUMP = """
            local out = {}
            for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
              local kind, value = redis.call('TYPE', key).ok, false
              if kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
              if kind == 'hash' then value = redis.call('HGETALL', key) end
              if kind == 'string' then value = { '', redis.call('GET', key) } end
              out[#out + 1] = { key, kind, redis.call('PTTL', key), value }
            end
            return out""";

    /** Key without prefix to its fields or members; a string is the field "". */
    private final Map<String, Map<String, byte[]>> content = new TreeMap<>();

    private final TreeMap<String, String> lines = new TreeMap<>();

    /** An image without keys, to be filled by a model. */
    ShardImage() {}

    /** The shard as it is. */
    static ShardImage of(RedisCommands redis, Keyspace keys, ShardId shard, String clientId) {
        String prefix = keys.namespace() + ":{" + shard + "}:";
        ShardImage image = new ShardImage();
        for (Object element : (List<?>) redis.call("EVAL", DUMP, 1, keys.ledger(shard), prefix + "*")) {
            List<?> key = (List<?>) element;
            String name = text(key.get(0)).substring(prefix.length());
            Map<String, byte[]> fields = new TreeMap<>();
            List<?> flat = (List<?>) key.get(3);
            for (int i = 0; i < flat.size(); i += 2) {
                fields.put(text(flat.get(i)), (byte[]) flat.get(i + 1));
            }
            image.content.put(name, fields);
            fields.forEach((field, value) -> image.add(name, field.replace(clientId, "C"), value));
            image.ttl(name, (Long) key.get(2));
        }
        return image;
    }

    private void add(String key, String field, byte[] value) {
        String kind = key.replaceFirst(":.*", "");
        String rest = key.substring(Math.min(key.length(), kind.length() + 1));
        switch (kind) {
            case "b" -> bucket(Long.parseLong(rest), shown(field), number(value));
            case "buckets" -> index(Long.parseLong(field), number(value));
            case "lease" -> lines.put("lease:" + minute(Long.parseLong(rest)) + " " + field, text(value));
            case "r" -> record(rest.equals(field.substring(0, 1)) ? shown(field) : "!" + rest + "/" + field, value);
            case "end" -> end(rest, (char) value[0], Arrays.copyOfRange(value, 1, value.length));
            case "inflight" -> inflight(shownReceipt(field), number(value));
            case "pop" ->
                lines.put(
                        key + " " + field,
                        text(value).lines().map(ShardImage::shownReceipt).collect(Collectors.joining(",")));
            case "dead" -> dead(shown(field), number(value));
            default -> lines.put(key + " " + field, text(value));
        }
    }

    void bucket(long minute, String id, long dueMs) {
        lines.put("b:" + minute(minute) + " " + id, time(dueMs));
    }

    void index(long minute, long score) {
        lines.put("buckets " + minute(minute), minute(score));
    }

    void lease(long minute, String holder, int count) {
        lines.put("lease:" + minute(minute) + " " + holder, Integer.toString(count));
        ttl("lease:" + minute, 60_000);
    }

    void inflight(String receipt, long deadlineMs) {
        lines.put("inflight " + receipt, time(deadlineMs));
    }

    void pops(String node, long seq, long fencedSeq, List<String> receipts) {
        if (fencedSeq > 0) {
            lines.put("pop:" + node + " fenced", Long.toString(fencedSeq));
        }
        if (seq > 0) {
            lines.put("pop:" + node + " seq", Long.toString(seq));
            lines.put("pop:" + node + " receipts", String.join(",", receipts));
        }
        ttl("pop:" + node, 60_000);
    }

    void dead(String id, long diedAtMs) {
        lines.put("dead " + id, time(diedAtMs));
    }

    void end(String id, char state, byte[] digest) {
        lines.put("end:" + id, state + " " + HexFormat.of().formatHex(digest));
    }

    void counter(String name, long value) {
        lines.put("ledger " + name, Long.toString(value));
    }

    /** A record's header, reason and body, each a word. */
    void record(String id, byte[] record) {
        if (!JobRecord.readable(record)) {
            lines.put("r " + id, "unreadable=" + HexFormat.of().formatHex(record));
            return;
        }
        ByteBuffer in = ByteBuffer.wrap(record);
        in.get();
        char state = (char) in.get();
        int attempt = in.getShort() & 0xffff;
        int delivery = in.getShort() & 0xffff;
        long minute = in.getInt() & 0xffffffffL;
        long due = in.getLong();
        long created = in.getLong();
        byte[] digest = new byte[JobRecord.DIGEST_BYTES];
        in.get(digest);
        byte[] reason = new byte[in.getShort() & 0xffff];
        in.get(reason);
        byte[] body = new byte[in.remaining()];
        in.get(body);
        record(id, state, attempt, delivery, minute, due, created, digest, reason, body);
    }

    void record(
            String id,
            char state,
            int attempt,
            int delivery,
            long minute,
            long dueMs,
            long createdMs,
            byte[] digest,
            byte[] reason,
            byte[] body) {
        lines.put(
                "r " + id,
                "state=" + state + " attempt=" + attempt + " delivery=" + delivery + " minute=" + minute(minute)
                        + " due=" + time(dueMs) + " created=" + time(createdMs) + " digest="
                        + HexFormat.of().formatHex(digest) + " reason=" + escaped(reason) + " body=" + escaped(body));
    }

    /** What is left of a key's life, in started minutes; nothing for a key that stays. */
    void ttl(String key, long leftMs) {
        if (leftMs >= 0) {
            String shown = key.startsWith("lease:") ? "lease:" + minute(Long.parseLong(key.substring(6))) : key;
            lines.put(shown + " ttl", (leftMs + 59_999) / 60_000 + "min");
        }
    }

    /**
     * What became different since an earlier image: {@code - line} is gone, {@code + line} is new, {@code ~ line} has another value; of values made
     * of words ({@code state=P}) only those that differ are shown.
     */
    List<String> since(ShardImage before) {
        List<String> changes = new ArrayList<>();
        TreeSet<String> all = new TreeSet<>(before.lines.keySet());
        all.addAll(lines.keySet());
        for (String line : all) {
            String was = before.lines.get(line);
            String is = lines.get(line);
            if (was == null) {
                changes.add("+ " + line + " = " + is);
            } else if (is == null) {
                changes.add("- " + line);
            } else if (!was.equals(is)) {
                changes.add("~ " + line + change(was, is));
            }
        }
        return changes;
    }

    private static String change(String was, String is) {
        Map<String, String> before = words(was);
        Map<String, String> after = words(is);
        if (before.isEmpty() || !before.keySet().equals(after.keySet())) {
            return " = " + was + " > " + is;
        }
        StringBuilder changed = new StringBuilder();
        for (String word :
                List.of("state", "attempt", "delivery", "minute", "due", "created", "digest", "reason", "body")) {
            String from = before.get(word);
            String to = after.get(word);
            if (from != null && to != null && !from.equals(to)) {
                changed.append(' ')
                        .append(word)
                        .append('=')
                        .append(from)
                        .append('>')
                        .append(to);
            }
        }
        return changed.toString();
    }

    private static Map<String, String> words(String value) {
        Map<String, String> words = new HashMap<>();
        for (String word : value.split(" ")) {
            int at = word.indexOf('=');
            if (at > 0) {
                words.put(word.substring(0, at), word.substring(at + 1));
            }
        }
        return words;
    }

    /** The value of a line, or null. */
    String line(String name) {
        return lines.get(name);
    }

    /** A hash, sorted set (scores as text) or string (field "") as it was stored; empty when there is none. */
    Map<String, byte[]> stored(String key) {
        return content.getOrDefault(key, Map.of());
    }

    /** The stored keys, without their prefix. */
    List<String> storedKeys() {
        return List.copyOf(content.keySet());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ShardImage image && lines.equals(image.lines);
    }

    @Override
    public int hashCode() {
        return lines.hashCode();
    }

    @Override
    public String toString() {
        return lines.entrySet().stream()
                .map(line -> line.getKey() + " = " + line.getValue())
                .collect(Collectors.joining("\n"));
    }

    static String time(long ms) {
        return "T" + signed(ms - TestStore.START_MS);
    }

    static String minute(long minute) {
        return "M" + signed(minute - TestStore.START_MINUTE);
    }

    private static String signed(long number) {
        return number < 0 ? Long.toString(number) : "+" + number;
    }

    static long number(byte[] score) {
        return (long) Double.parseDouble(text(score));
    }

    private static String shown(String member) {
        String id = ShardMap.idOf(member);
        return ShardMap.memberOf(id).equals(member) ? id : "!" + member;
    }

    static String shownReceipt(String receipt) {
        int at = receipt.indexOf(':', receipt.indexOf(':') + 1) + 1;
        return at <= 0 || at >= receipt.length() ? receipt : receipt.substring(0, at) + shown(receipt.substring(at));
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }

    /** Plain characters as they are, others as %XX; long values as their length and hash. */
    static String escaped(byte[] bytes) {
        if (bytes.length > 80) {
            return bytes.length + "bytes#" + Integer.toHexString(Arrays.hashCode(bytes));
        }
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            if (b > ' ' && b < 127 && b != '%' && b != '=') {
                text.append((char) b);
            } else {
                text.append(String.format("%%%02X", b));
            }
        }
        return text.toString();
    }
}

package io.minutehand.core.store;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.Limits;
import io.minutehand.core.telemetry.TraceContext;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of a job, version 1. The scripts own the header (see {@code lib/record.lua}: 36 bytes, then the reason of the last
 * failure); the body behind it is opaque to them and is written here, once, before the first send:
 *
 * <pre>
 * u16 length of business id (65535 = none) | business id | u16 headers | per header: u16 length, name, u16 length, value | payload
 * </pre>
 *
 * <p>All text is UTF-8, all numbers big-endian. A record of a newer version is never decoded.
 */
public final class JobRecord {
    /** The version that this code writes, and the newest that it reads. */
    public static final int VERSION = 1;

    /** Bytes of a digest. */
    public static final int DIGEST_BYTES = 8;

    private static final int NO_BUSINESS_ID = 0xffff;
    private static final int DIGEST_AT = 26;
    private static final int REASON_AT = 36;

    private JobRecord() {}

    /** The body of a job. */
    public static byte[] encodeBody(@Nullable String businessId, Map<String, String> headers, byte[] payload) {
        byte[] business = businessId == null ? null : utf8(businessId);
        int bytes = 4 + (business == null ? 0 : business.length) + payload.length;
        Map<byte[], byte[]> encoded = new LinkedHashMap<>();
        for (Map.Entry<String, String> header : headers.entrySet()) {
            byte[] name = utf8(header.getKey());
            byte[] value = utf8(header.getValue());
            encoded.put(name, value);
            bytes += 4 + name.length + value.length;
        }
        ByteBuffer body = ByteBuffer.allocate(bytes);
        body.putShort((short) (business == null ? NO_BUSINESS_ID : business.length));
        if (business != null) {
            body.put(business);
        }
        body.putShort((short) encoded.size());
        encoded.forEach((name, value) -> body.putShort((short) name.length)
                .put(name)
                .putShort((short) value.length)
                .put(value));
        return body.put(payload).array();
    }

    /**
     * What tells the same request from another: the first 8 bytes of the SHA-256 of business id, headers, payload, and the due time or delay
     * <em>as the caller gave it</em>, so that a repeated "in 30 minutes" is the same request at any time; a trace is no part of it, since each
     * repeat has a span of its own.
     */
    public static byte[] digest(
            @Nullable String businessId, Map<String, String> headers, byte[] payload, String dueAsGiven) {
        MessageDigest sha = sha256();
        field(sha, dueAsGiven);
        field(sha, businessId == null ? "-" : "+" + businessId);
        new TreeMap<>(headers).forEach((name, value) -> {
            if (!TraceContext.HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                field(sha, name);
                field(sha, value);
            }
        });
        sha.update((byte) 1);
        sha.update(payload);
        return java.util.Arrays.copyOf(sha.digest(), DIGEST_BYTES);
    }

    private static void field(MessageDigest sha, String text) {
        byte[] bytes = utf8(text);
        sha.update(ByteBuffer.allocate(5).put((byte) 0).putInt(bytes.length).array());
        sha.update(bytes);
    }

    /** Whether this code understands the header, by the rule of {@code lib/record.lua}. */
    static boolean readable(byte[] record) {
        return record.length >= REASON_AT
                && record[0] == VERSION
                && record.length >= REASON_AT + (ByteBuffer.wrap(record).getShort(REASON_AT - 2) & 0xffff);
    }

    /**
     * A record as a job.
     *
     * @param job the job; when its body is damaged without business id and headers, and with the whole body as payload, so that no byte is lost
     * @param damage what of the body cannot be read, or null
     */
    record Decoded(Job job, @Nullable String damage) {}

    /**
     * Decodes a record.
     *
     * @throws IllegalArgumentException when its header is of another version or cut
     */
    static Decoded decode(String topic, String member, byte[] record) {
        if (!readable(record)) {
            throw new IllegalArgumentException("record of topic=" + topic + " job=" + ShardMap.idOf(member)
                    + " has version " + (record.length == 0 ? "none" : record[0]) + " and " + record.length
                    + " bytes; this node reads version " + VERSION);
        }
        ByteBuffer in = ByteBuffer.wrap(record);
        in.get();
        JobState state = JobState.ofCode((char) in.get());
        int attempt = in.getShort() & 0xffff;
        int delivery = in.getShort() & 0xffff;
        in.getInt();
        Instant dueAt = Instant.ofEpochMilli(in.getLong());
        Instant createdAt = Instant.ofEpochMilli(in.getLong());
        in.position(REASON_AT - 2);
        String reason = text(in, in.getShort() & 0xffff);
        int bodyAt = in.position();
        Body body;
        String damage = null;
        try {
            body = body(in);
        } catch (BufferUnderflowException | IllegalArgumentException | IndexOutOfBoundsException cut) {
            damage = "the stored body of " + (record.length - bodyAt) + " bytes is cut or was changed";
            body = new Body(null, Map.of(), java.util.Arrays.copyOfRange(record, bodyAt, record.length));
        }
        Job job = new Job(
                topic,
                ShardMap.idOf(member),
                body.businessId(),
                body.headers(),
                body.payload(),
                state,
                attempt,
                delivery,
                dueAt,
                createdAt,
                reason.isEmpty() ? null : reason);
        return new Decoded(job, damage);
    }

    @SuppressWarnings("ArrayRecordComponent") // only carries three values from one method to another
    private record Body(@Nullable String businessId, Map<String, String> headers, byte[] payload) {}

    private static Body body(ByteBuffer in) {
        int businessBytes = in.getShort() & 0xffff;
        String businessId = businessBytes == NO_BUSINESS_ID ? null : text(in, businessBytes);
        int headerCount = in.getShort() & 0xffff;
        Map<String, String> headers = headerCount == 0 ? Map.of() : new LinkedHashMap<>();
        for (int i = 0; i < headerCount; i++) {
            String name = text(in, in.getShort() & 0xffff);
            headers.put(name, text(in, in.getShort() & 0xffff));
        }
        byte[] payload = new byte[in.remaining()];
        in.get(payload);
        return new Body(businessId, headerCount == 0 ? headers : Collections.unmodifiableMap(headers), payload);
    }

    static byte[] digestOf(byte[] record) {
        return java.util.Arrays.copyOfRange(record, DIGEST_AT, DIGEST_AT + DIGEST_BYTES);
    }

    /** A failure reason as it is stored: one line, at most {@link Limits#REASON_BYTES} bytes, never half a character. */
    static byte[] reason(String text) {
        byte[] bytes = utf8(text);
        if (bytes.length <= Limits.REASON_BYTES) {
            return bytes;
        }
        int end = Limits.REASON_BYTES;
        while (end > 0 && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return java.util.Arrays.copyOf(bytes, end);
    }

    private static String text(ByteBuffer in, int bytes) {
        String text = new String(in.array(), in.arrayOffset() + in.position(), bytes, StandardCharsets.UTF_8);
        in.position(in.position() + bytes);
        return text;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}

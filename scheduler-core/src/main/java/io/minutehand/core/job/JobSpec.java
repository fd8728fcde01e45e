package io.minutehand.core.job;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a producer asks for: a payload, when, and under which id. Immutable; each setter returns a copy. Without a time the job is
 * due now; without an id one is made when it is scheduled (and then the call cannot be repeated by the caller).
 *
 * @param <T> the payload's type
 */
public final class JobSpec<T> {
    private final T payload;
    private final @Nullable String id;
    private final @Nullable String businessId;
    private final Map<String, String> headers;
    private final @Nullable Instant dueAt;
    private final @Nullable Duration delay;
    private final boolean replacing;

    private JobSpec(
            T payload,
            @Nullable String id,
            @Nullable String businessId,
            Map<String, String> headers,
            @Nullable Instant dueAt,
            @Nullable Duration delay,
            boolean replacing) {
        this.payload = payload;
        this.id = id;
        this.businessId = businessId;
        this.headers = headers;
        this.dueAt = dueAt;
        this.delay = delay;
        this.replacing = replacing;
    }

    /** A job with this payload, due now. */
    public static <T> JobSpec<T> of(T payload) {
        return new JobSpec<>(Objects.requireNonNull(payload, "payload"), null, null, Map.of(), null, null, false);
    }

    /**
     * The same under this id: scheduling it twice stores it once.
     *
     * @throws IllegalArgumentException by the rule of {@link JobId}
     */
    public JobSpec<T> id(String newId) {
        return new JobSpec<>(payload, JobId.require(newId), businessId, headers, dueAt, delay, replacing);
    }

    /**
     * The same about this thing of the caller's world, for logs and look-ups.
     *
     * @throws IllegalArgumentException when it is longer than {@link Limits#BUSINESS_ID_CHARS}
     */
    public JobSpec<T> businessId(String newBusinessId) {
        Objects.requireNonNull(newBusinessId, "businessId");
        if (newBusinessId.length() > Limits.BUSINESS_ID_CHARS) {
            throw new IllegalArgumentException("business id has " + newBusinessId.length()
                    + " characters, allowed are at most " + Limits.BUSINESS_ID_CHARS + ": " + Quoted.of(newBusinessId));
        }
        return new JobSpec<>(payload, id, newBusinessId, headers, dueAt, delay, replacing);
    }

    /**
     * The same with one header more.
     *
     * @throws IllegalArgumentException beyond {@link Limits#HEADERS} headers or {@link Limits#HEADER_BYTES} bytes in all
     */
    public JobSpec<T> header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
        if (more.size() > Limits.HEADERS) {
            throw new IllegalArgumentException(
                    "job has " + more.size() + " headers, allowed are at most " + Limits.HEADERS);
        }
        long bytes = more.entrySet().stream()
                .mapToLong(e -> utf8Bytes(e.getKey()) + utf8Bytes(e.getValue()))
                .sum();
        if (bytes > Limits.HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "headers have " + bytes + " bytes, allowed are at most " + Limits.HEADER_BYTES + " in all");
        }
        return new JobSpec<>(payload, id, businessId, Collections.unmodifiableMap(more), dueAt, delay, replacing);
    }

    /** The same, due at this instant (cut to milliseconds, rounded up); one of the past means now. */
    public JobSpec<T> at(Instant newDueAt) {
        return new JobSpec<>(
                payload, id, businessId, headers, Objects.requireNonNull(newDueAt, "dueAt"), null, replacing);
    }

    /** The same, due this long after the call, by the clock of Redis; a negative delay means now. */
    public JobSpec<T> after(Duration newDelay) {
        return new JobSpec<>(
                payload, id, businessId, headers, null, Objects.requireNonNull(newDelay, "delay"), replacing);
    }

    /** The same, taking the place of a job with this id that is pending, dead or ended; one that is in flight stays. */
    public JobSpec<T> replacing() {
        return new JobSpec<>(payload, id, businessId, headers, dueAt, delay, true);
    }

    public T payload() {
        return payload;
    }

    /** The caller's id, or null: one is made when the job is scheduled. */
    public @Nullable String id() {
        return id;
    }

    public @Nullable String businessId() {
        return businessId;
    }

    public Map<String, String> headers() {
        return headers;
    }

    /** The instant that the caller gave, or null. */
    public @Nullable Instant dueAt() {
        return dueAt;
    }

    /** The delay that the caller gave, or null. */
    public @Nullable Duration delay() {
        return delay;
    }

    public boolean isReplacing() {
        return replacing;
    }

    private static int utf8Bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
    }
}

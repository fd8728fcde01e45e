package io.minutehand.core.write;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.JobRecord;
import io.minutehand.core.store.NewJob;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks what callers ask for and brings it into its stored form. All that two sends of one job share is made here, once: its id, its body and,
 * as soon as the server's clock is known, its due time and digest. Immutable, thread-safe.
 */
public final class JobForms {
    private static final ObjectMapper SHARED = JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .build();

    private static final long US_PER_MS = 1000;
    private static final long NS_PER_MS = 1_000_000;

    private final ObjectMapper mapper;
    private final int payloadBytes;

    /**
     * Forms by a mapper and a limit.
     *
     * @param mapper writes payloads that are not bytes; null for the built-in one
     * @param payloadBytes of an encoded payload, at most
     */
    public JobForms(@Nullable ObjectMapper mapper, int payloadBytes) {
        this.mapper = mapper == null ? SHARED : mapper;
        this.payloadBytes = payloadBytes;
    }

    /** When a job is wanted, as the caller gave it, in whole milliseconds (rounded up: never early). */
    public record When(Kind kind, long ms) {
        /** What {@code ms} means. */
        public enum Kind {
            NOW,
            AT,
            AFTER
        }

        static final When NOW = new When(Kind.NOW, 0);

        /**
         * At an instant; one before 1970 is as past as 1970.
         *
         * @throws IllegalArgumentException when it is beyond {@link Limits#HORIZON}
         */
        public static When at(Instant dueAt) {
            Objects.requireNonNull(dueAt, "dueAt");
            Instant last = Instant.now().plus(Limits.HORIZON);
            if (dueAt.isAfter(last)) {
                throw new IllegalArgumentException("due time " + dueAt + " is later than " + last + ", allowed are "
                        + Limits.HORIZON.toDays() + " days ahead");
            }
            if (dueAt.getEpochSecond() < 0) {
                return new When(Kind.AT, 0);
            }
            long ms = dueAt.toEpochMilli();
            return new When(Kind.AT, dueAt.getNano() % NS_PER_MS == 0 ? ms : ms + 1);
        }

        /**
         * After a delay; a negative one is none.
         *
         * @throws IllegalArgumentException when it is longer than {@link Limits#HORIZON}
         */
        public static When after(Duration delay) {
            Objects.requireNonNull(delay, "delay");
            if (delay.compareTo(Limits.HORIZON) > 0) {
                throw new IllegalArgumentException(
                        "delay " + delay + " is longer than " + Limits.HORIZON + ", the most that is allowed");
            }
            if (delay.isNegative()) {
                return new When(Kind.AFTER, 0);
            }
            long ms = delay.toMillis();
            return new When(Kind.AFTER, delay.getNano() % NS_PER_MS == 0 ? ms : ms + 1);
        }

        /**
         * As a job has it.
         *
         * @throws IllegalArgumentException as {@link #at} and {@link #after}
         */
        public static When of(JobSpec<?> spec) {
            Instant dueAt = spec.dueAt();
            if (dueAt != null) {
                return at(dueAt);
            }
            Duration delay = spec.delay();
            return delay == null ? NOW : after(delay);
        }

        /**
         * The due time in epoch ms; what is past means now.
         *
         * @param calledAtUs the server's time of the call, epoch microseconds
         */
        public long dueMs(long calledAtUs) {
            long nowMs = calledAtUs / US_PER_MS;
            return switch (kind) {
                case NOW -> nowMs;
                case AT -> Math.max(ms, nowMs);
                case AFTER -> ms == 0 ? nowMs : (calledAtUs + US_PER_MS - 1) / US_PER_MS + ms;
            };
        }

        private String text(long dueMs, boolean replacing) {
            return switch (kind) {
                case AT -> "at:" + ms;
                // A later "in 5 minutes" is to replace an earlier one: only their due times tell them apart.
                case AFTER -> replacing ? "after:" + ms + "@" + dueMs : "after:" + ms;
                case NOW -> replacing ? "now@" + dueMs : "now";
            };
        }
    }

    /**
     * A checked job that lacks only what the server's clock says.
     *
     * @param spec as the caller gave it
     * @param id the caller's, or a fresh one
     * @param when checked
     * @param body as it is stored: a copy of the payload of its own
     * @param payload the encoded payload, as long as the caller cannot have changed it, else null
     * @param payloadSize its bytes, the last ones of the body
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Draft(
            JobSpec<?> spec, String id, When when, byte[] body, byte @Nullable [] payload, int payloadSize) {
        /** Characters of the id and bytes of the body: what the job holds of memory, but for what each object costs. */
        public long size() {
            return (long) id.length() + body.length;
        }

        /** Before the caller gets its thread back: from then on it may change its bytes. */
        public Draft withoutPayload() {
            return new Draft(spec, id, when, body, null, payloadSize);
        }

        /**
         * The job as it is stored.
         *
         * @param calledAtUs the server's time of the call, epoch microseconds
         */
        public NewJob toJob(long calledAtUs) {
            byte[] bytes = payload != null ? payload : Arrays.copyOfRange(body, body.length - payloadSize, body.length);
            long dueMs = when.dueMs(calledAtUs);
            byte[] digest =
                    JobRecord.digest(spec.businessId(), spec.headers(), bytes, when.text(dueMs, spec.isReplacing()));
            return new NewJob(id, dueMs, digest, spec.isReplacing(), body, 0);
        }
    }

    /**
     * Checks and encodes a job.
     *
     * @throws IllegalArgumentException that names the value out of range, or says why the payload cannot be encoded
     */
    public Draft draft(JobSpec<?> spec) {
        When when = When.of(spec);
        byte[] payload = encode(spec);
        String given = spec.id();
        return new Draft(
                spec,
                given == null ? JobId.random() : given,
                when,
                JobRecord.encodeBody(spec.businessId(), spec.headers(), payload),
                payload,
                payload.length);
    }

    /**
     * Checks a job as {@link #draft} does and keeps nothing.
     *
     * @throws IllegalArgumentException as {@link #draft}
     */
    public void check(JobSpec<?> spec) {
        When.of(spec);
        encode(spec);
    }

    /**
     * Checks a job as {@link #draft} does, and puts the bytes of its payload, a copy of their own, in the payload's place.
     *
     * @throws IllegalArgumentException as {@link #draft}
     */
    public JobSpec<byte[]> encoded(JobSpec<?> spec) {
        When.of(spec);
        byte[] bytes = encode(spec);
        JobSpec<byte[]> encoded = JobSpec.of(bytes == spec.payload() ? bytes.clone() : bytes);
        if (spec.id() != null) {
            encoded = encoded.id(spec.id());
        }
        if (spec.businessId() != null) {
            encoded = encoded.businessId(spec.businessId());
        }
        for (var header : spec.headers().entrySet()) {
            encoded = encoded.header(header.getKey(), header.getValue());
        }
        if (spec.dueAt() != null) {
            encoded = encoded.at(spec.dueAt());
        }
        if (spec.delay() != null) {
            encoded = encoded.after(spec.delay());
        }
        return spec.isReplacing() ? encoded.replacing() : encoded;
    }

    private byte[] encode(JobSpec<?> spec) {
        Object payload = spec.payload();
        byte[] bytes;
        if (payload instanceof byte[] raw) {
            bytes = raw;
        } else {
            try {
                bytes = mapper.writeValueAsBytes(payload);
            } catch (JsonProcessingException e) {
                throw new IllegalArgumentException(
                        "payload of type " + payload.getClass().getName() + label(spec) + " cannot be written as JSON: "
                                + e.getOriginalMessage(),
                        e);
            }
        }
        if (bytes.length > payloadBytes) {
            throw new IllegalArgumentException("payload" + label(spec) + " has " + bytes.length
                    + " bytes, allowed are at most payloadBytes=" + payloadBytes);
        }
        return bytes;
    }

    private static String label(JobSpec<?> spec) {
        return spec.id() == null ? "" : " of job " + spec.id();
    }
}

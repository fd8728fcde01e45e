package io.minutehand.core.job;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stored job as it was read; immutable, but for {@code payload}, which nobody may change.
 *
 * @param topic the topic
 * @param id unique within the topic
 * @param businessId what the job is about in the caller's world, or null
 * @param headers names and values that travel with the job
 * @param payload the caller's bytes, untouched
 * @param state pending, in flight or dead; of other states no record is left
 * @param attempt the number of the current attempt, from 1
 * @param delivery how often the current attempt was handed to a node, 0 while it never was
 * @param dueAt when the current attempt is due, to the millisecond
 * @param createdAt when the job was accepted, by the clock of its Redis server
 * @param lastFailure why the last attempt failed, cut to {@link Limits#REASON_BYTES} bytes, or null
 */
public record Job(
        String topic,
        String id,
        @Nullable String businessId,
        Map<String, String> headers,
        byte[] payload,
        JobState state,
        int attempt,
        int delivery,
        Instant dueAt,
        Instant createdAt,
        @Nullable String lastFailure) {
    /** Identity of the job, without its payload. */
    @Override
    public String toString() {
        return "Job[topic=" + topic + " id=" + id + " business_id="
                + (businessId == null ? "none" : Quoted.of(businessId)) + " state=" + state + " attempt="
                + attempt + " delivery=" + delivery + " due=" + dueAt + " payload=" + payload.length + " bytes]";
    }
}

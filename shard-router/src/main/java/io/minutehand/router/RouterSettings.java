package io.minutehand.router;

import io.minutehand.core.job.Allowed;
import io.minutehand.core.job.Durability;
import io.minutehand.core.job.Limits;
import io.minutehand.core.write.JobForms.Draft;
import java.time.Duration;

/**
 * How a router behaves: the one table of its defaults and ranges.
 *
 * <table>
 * <caption>Settings</caption>
 * <tr><th>setting</th><th>default</th><th>range</th></tr>
 * <tr><td>bufferBytes</td><td>64 MiB</td><td>a largest job and more</td></tr>
 * <tr><td>onFull</td><td>BLOCK</td><td>BLOCK, FAIL</td></tr>
 * <tr><td>blockFor</td><td>10 s</td><td>0 to 1 h</td></tr>
 * <tr><td>deadline</td><td>10 s</td><td>100 ms to 1 h</td></tr>
 * <tr><td>payloadBytes</td><td>256 KiB</td><td>1 to 768 KiB</td></tr>
 * <tr><td>createTopics</td><td>true</td><td></td></tr>
 * <tr><td>durability</td><td>MEMORY</td><td>MEMORY, or 1 to 16 replicas within less than the deadline</td></tr>
 * </table>
 *
 * @param bufferBytes bytes that calls without an answer may hold together
 * @param onFull what a call does beyond that
 * @param blockFor how long it blocks, with BLOCK
 * @param deadline how long a call is repeated until it is answered UNKNOWN or NOT_STORED
 * @param payloadBytes bytes of a payload, at most
 * @param createTopics whether topics that nobody declared are created, with the defaults of a topic
 * @param durability when a job counts as stored
 */
record RouterSettings(
        long bufferBytes,
        OnFull onFull,
        Duration blockFor,
        Duration deadline,
        int payloadBytes,
        boolean createTopics,
        Durability durability) {
    /** Bytes that a call holds besides its body and id: the objects around it, rounded up. */
    static final int OVERHEAD_BYTES = 512;

    private static final Duration LONGEST = Duration.ofHours(1);
    private static final Duration SHORTEST_DEADLINE = Duration.ofMillis(100);

    private static final RouterSettings DEFAULTS = new RouterSettings(
            64L * 1024 * 1024,
            OnFull.BLOCK,
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            Limits.PAYLOAD_BYTES,
            true,
            Durability.MEMORY);

    /**
     * Checks the ranges above.
     *
     * @throws IllegalArgumentException that names the setting, its value and what is allowed
     */
    RouterSettings {
        Allowed.requireWithin("router setting payloadBytes", payloadBytes, 1, Limits.PAYLOAD_BYTES_CEILING);
        Allowed.require(
                bufferBytes >= largestJobBytes(payloadBytes),
                "router setting bufferBytes",
                bufferBytes,
                largestJobBytes(payloadBytes) + " (one job with payloadBytes=" + payloadBytes + ") and more");
        Allowed.requireWithin("router setting blockFor", blockFor, Duration.ZERO, LONGEST);
        Allowed.requireWithin("router setting deadline", deadline, SHORTEST_DEADLINE, LONGEST);
        Allowed.require(
                durability.replicas() == 0 || durability.within().compareTo(deadline) < 0,
                "router setting durability",
                durability,
                "less time for replicas than the deadline of " + deadline);
    }

    static RouterSettings defaults() {
        return DEFAULTS;
    }

    /** Bytes that the largest job holds: payload, headers with their lengths, business id, id, and the objects around it. */
    private static long largestJobBytes(int payloadBytes) {
        return payloadBytes
                + Limits.HEADER_BYTES
                + 4L * Limits.HEADERS
                + 3L * Limits.BUSINESS_ID_CHARS
                + Limits.ID_CHARS
                + OVERHEAD_BYTES;
    }

    /** What a job without an answer counts for in the buffer, bytes. */
    static long heldBytes(Draft draft) {
        return OVERHEAD_BYTES + draft.size();
    }
}

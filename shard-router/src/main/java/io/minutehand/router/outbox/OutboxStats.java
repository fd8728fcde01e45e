package io.minutehand.router.outbox;

import org.jspecify.annotations.Nullable;

/**
 * What an outbox or a relay has done since it started.
 *
 * @param scheduled rows whose job is in Redis now, and that are gone
 * @param setAside rows that can never be scheduled as they are; they stay, with the reason, until somebody looks
 * @param postponed how often a row was left for later, because Redis or the database was away or full, or memory was
 * @param trouble why the last pass left rows for later; null when it left none
 */
public record OutboxStats(
        long scheduled,
        long setAside,
        long postponed,
        @Nullable String trouble) {}

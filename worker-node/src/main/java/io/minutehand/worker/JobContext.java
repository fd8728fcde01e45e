package io.minutehand.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a handler can know of the job that it runs. Thread-safe. */
public interface JobContext {
    String topic();

    String id();

    /** What the job is about in the producer's world, or null. */
    @Nullable
    String businessId();

    /** Names and values that the producer sent along. */
    Map<String, String> headers();

    /** The number of this attempt, from 1. */
    int attempt();

    /** How often this attempt was handed to a node, from 1; above 1 another node may have begun it. */
    int delivery();

    /** When this attempt was due. */
    Instant dueAt();

    /** When the producer's call was accepted. */
    Instant createdAt();

    /** When the handler was started, by the clock of the job's Redis server; never before {@link #dueAt}. */
    Instant startedAt();

    /** {@link #startedAt} less {@link #dueAt}. */
    Duration lateness();

    /** How much of the handler time-out is left; zero when none is. */
    Duration remaining();

    /**
     * Whether the job is still this node's, as far as it knows without asking: false after its receipt was lost or its deadline passed. Ask it
     * before an effect that cannot be repeated. It cannot know of a pause that happens between the answer and the effect.
     */
    boolean isStillMine();
}

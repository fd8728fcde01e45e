package io.minutehand.core.job;

import org.jspecify.annotations.Nullable;

/**
 * The answer of a look-up by id.
 *
 * @param id the job's id
 * @param state where it stands
 * @param job what is stored of it, or null when only its tombstone is left (done, cancelled)
 */
public record JobStatus(String id, JobState state, @Nullable Job job) {}

package io.minutehand.core.store;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Job;
import org.jspecify.annotations.Nullable;

/**
 * A job that pop or recover put in flight for the caller.
 *
 * @param shard where it lives
 * @param receipt what ends or prolongs it
 * @param job the job
 * @param digest 8 bytes, for the tombstone
 * @param damage why the job cannot be run, its stored body being cut, or null: then the payload is the body as it is stored, and the one
 *     right end is a dead letter
 */
@SuppressWarnings("ArrayRecordComponent") // identity is the receipt; nobody compares these
public record HandedJob(
        ShardId shard,
        Receipt receipt,
        Job job,
        byte[] digest,
        @Nullable String damage) {}

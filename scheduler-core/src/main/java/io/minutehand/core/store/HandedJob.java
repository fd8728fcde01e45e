package io.minutehand.core.store;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Job;

/**
 * A job that pop or recover put in flight for the caller.
 *
 * @param shard where it lives
 * @param receipt what ends or prolongs it
 * @param job the job
 * @param digest 8 bytes, for the tombstone
 */
@SuppressWarnings("ArrayRecordComponent") // identity is the receipt; nobody compares these
public record HandedJob(ShardId shard, Receipt receipt, Job job, byte[] digest) {}

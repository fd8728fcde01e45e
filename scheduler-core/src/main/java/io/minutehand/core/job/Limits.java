package io.minutehand.core.job;

import java.time.Duration;

/** The limits that every caller meets before anything is sent, and the defaults of sizes and times, each once. */
public final class Limits {
    /** Characters of a topic's name, at most. */
    public static final int TOPIC_CHARS = 64;

    /** Characters of a job's id, at most. */
    public static final int ID_CHARS = 128;

    /** Characters of a business id, at most. */
    public static final int BUSINESS_ID_CHARS = 256;

    /** Bytes of a payload, at most, unless a router is built with another limit. */
    public static final int PAYLOAD_BYTES = 256 * 1024;

    /** The largest payload limit that a router accepts: one script call carries at most about 1 MiB. */
    public static final int PAYLOAD_BYTES_CEILING = 768 * 1024;

    /** Headers of a job, at most. */
    public static final int HEADERS = 64;

    /** Bytes (UTF-8) of all header names and values of a job together, at most. */
    public static final int HEADER_BYTES = 16 * 1024;

    /** How far ahead a job may be due. */
    public static final Duration HORIZON = Duration.ofDays(3653);

    /** Shards of a topic, at most. */
    public static final int SHARDS = 1024;

    /** Bytes (UTF-8) of a stored failure reason; longer ones are cut. */
    public static final int REASON_BYTES = 512;

    /** Jobs of one script call, at most. */
    public static final int BATCH_JOBS = 256;

    /** Bytes of record bodies of one script call, at most, unless a single job is larger. */
    public static final int BATCH_BYTES = 1024 * 1024;

    private Limits() {}
}

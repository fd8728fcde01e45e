package io.minutehand.core.store;

/** What a script of the audit says of one thing that it looked at. */
public enum Verdict {
    /** As it should be, or gone or moved meanwhile. */
    OK,
    /** A record that waits, and is not in its bucket. */
    NO_ENTRY,
    /** A record that waits, and is in its bucket with another due time. */
    WRONG_DUE,
    /** A record in flight under no receipt. */
    NO_RECEIPT,
    /** A record of a dead job that is not among the dead letters. */
    NOT_LISTED,
    /** A member of a bucket, the in-flight set or the dead letters without a record. */
    NO_RECORD,
    /** The same with a record that says that the job is elsewhere. */
    STRAY,
    /** A minute in the index whose bucket is empty. */
    EMPTY,
    /** A bucket that holds jobs and is not in the index, or not at its place. */
    UNLISTED,
    /** A record of a newer version, or cut: left alone. */
    NEWER,
    /** Not looked at, since that would have taken too long. */
    UNJUDGED
}

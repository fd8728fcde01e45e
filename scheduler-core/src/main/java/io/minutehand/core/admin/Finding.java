package io.minutehand.core.admin;

import io.minutehand.core.bucket.ShardId;

/**
 * Something in a shard that should not be so.
 *
 * @param shard where
 * @param kind what
 * @param subject which job (its id), minute or counter; text of strangers, so escape it before it is shown
 * @param repaired whether it was mended; what cannot be mended safely stays
 */
public record Finding(ShardId shard, Kind kind, String subject, boolean repaired) {
    /** What can be amiss. */
    public enum Kind {
        /** A bucket with jobs that nobody would look at. Mended: named in the index again. */
        UNLISTED_BUCKET("bucket holds jobs, but the index does not name it"),
        /** Mended: dropped from the index. */
        EMPTY_BUCKET("index names an empty bucket"),
        /** A job that nobody would run. Mended: in its bucket again. */
        PENDING_WITHOUT_ENTRY("job is pending, but not in its bucket"),
        /** A job that would run at another time. Mended: the record's time counts. */
        WRONG_DUE("job is in its bucket with another due time"),
        /** A job that nobody has and nobody would recover. Mended: pending again, due as it was, so at once. */
        IN_FLIGHT_WITHOUT_RECEIPT("job is in flight, but nobody has a receipt"),
        /** A dead letter that no list shows. Mended: among the dead letters again, as of now. */
        DEAD_WITHOUT_ENTRY("job is dead, but not among the dead letters"),
        /** A job that is lost. Mended: the entry goes, counted as an orphan. */
        ENTRY_WITHOUT_RECORD("entry of a bucket has no record: the job is lost"),
        /** A job that would run twice. Mended: the entry goes, the record counts. */
        STRAY_ENTRY("entry of a bucket, but the job's record says that it is elsewhere"),
        /** A job that is lost, or its handler still runs. Mended: the receipt goes, counted as an orphan. */
        RECEIPT_WITHOUT_RECORD("receipt has no record: the job is lost"),
        /** A job that would be recovered while it is elsewhere. Mended: the receipt goes, the record counts. */
        STRAY_RECEIPT("receipt, but the job's record says that it is elsewhere"),
        /** A dead letter that is lost. Mended: the entry goes, counted as an orphan. */
        DEAD_ENTRY_WITHOUT_RECORD("dead letter has no record: it is lost"),
        /** Mended: the entry goes, the record counts. */
        STRAY_DEAD_ENTRY("dead letter, but the job's record says that it lives"),
        /** Mended, if all buckets could be counted at one instant: set to what they hold. */
        PENDING_COUNTER("counter of pending jobs is not what the buckets hold"),
        /** Jobs are missing, or too many, without a trace; or counters were changed by hand. Not mended. */
        LEDGER("accepted jobs are not all accounted for"),
        /** Something that no script writes. Not mended. */
        MALFORMED("member is none of ours");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** The kind in words. */
        public String text() {
            return text;
        }
    }
}

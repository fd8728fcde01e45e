package io.minutehand.core.store;

/**
 * A job on its way into a shard: everything that a repeat of the call must send again, byte for byte.
 *
 * @param id the job's id
 * @param dueMs epoch ms by the server's clock
 * @param digest 8 bytes that tell the same request from another
 * @param replace whether it may take the place of a job that is pending, dead or ended
 * @param body as {@link JobRecord#encodeBody} made it
 * @param fromMinute with replace: the minute in which the old job waits, 0 when not known
 */
@SuppressWarnings("ArrayRecordComponent") // identity is the id; nobody compares these
public record NewJob(String id, long dueMs, byte[] digest, boolean replace, byte[] body, long fromMinute) {
    /** The same job, for a call that knows where the older one waits. */
    public NewJob replacingFrom(long minute) {
        return new NewJob(id, dueMs, digest, replace, body, minute);
    }
}

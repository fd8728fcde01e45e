package io.minutehand.core.store;

import java.util.ArrayList;
import java.util.List;

/**
 * What a look at a shard saw.
 *
 * @param nowMs server time, epoch ms
 * @param deadlineMs earliest deadline in flight, -1 = none
 * @param inFlight receipts
 * @param nextMinute first minute with jobs after those looked at, -1 = none
 * @param minutes minutes with jobs, oldest first
 * @param buckets what was asked about, in the order of the question
 */
public record ShardLook(
        long nowMs, long deadlineMs, long inFlight, long nextMinute, List<Long> minutes, List<Bucket> buckets) {
    /**
     * A bucket that the caller asked about.
     *
     * @param firstDueMs epoch ms, -1 = empty
     * @param leaseMs how long its lease runs, negative = free
     */
    public record Bucket(long firstDueMs, long leaseMs) {}

    static ShardLook of(Reply reply) {
        int count = (int) reply.number(4);
        List<Long> minutes = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            minutes.add(reply.number(5 + i));
        }
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 5 + count; i < reply.size(); i += 2) {
            buckets.add(new Bucket(reply.number(i), reply.number(i + 1)));
        }
        return new ShardLook(
                reply.number(0) / 1000, reply.number(1), reply.number(2), reply.number(3), minutes, buckets);
    }
}

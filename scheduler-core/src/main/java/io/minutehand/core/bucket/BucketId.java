package io.minutehand.core.bucket;

/**
 * A minute bucket of a shard: what a node leases and drains.
 *
 * @param shard the shard
 * @param minute minutes since 1970
 */
public record BucketId(ShardId shard, long minute) {
    @Override
    public String toString() {
        return "topic=" + shard.topic() + " shard=" + shard.shard() + " minute=" + minute;
    }
}

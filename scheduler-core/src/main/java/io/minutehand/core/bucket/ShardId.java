package io.minutehand.core.bucket;

/**
 * A shard of a topic.
 *
 * @param topic the topic
 * @param shard from 0
 */
public record ShardId(String topic, int shard) {
    @Override
    public String toString() {
        return topic + ":" + shard;
    }
}

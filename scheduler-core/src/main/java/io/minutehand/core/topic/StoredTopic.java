package io.minutehand.core.topic;

/**
 * The settings of a topic as Redis holds them.
 *
 * @param topic the topic
 * @param epoch from 1; changes with the shard count, and every schedule call carries it
 * @param settings the settings
 */
public record StoredTopic(String topic, long epoch, TopicSettings settings) {}

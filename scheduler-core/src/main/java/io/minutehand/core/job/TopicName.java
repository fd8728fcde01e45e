package io.minutehand.core.job;

import java.util.Objects;

/** The rule of topic names: {@code [a-z0-9._-]{1,64}}. Stateless. */
public final class TopicName {
    private TopicName() {}

    /**
     * Returns the name if it is one. Braces are among the refused characters, so nobody chooses a cluster slot.
     *
     * @throws IllegalArgumentException when it is empty, longer than {@link Limits#TOPIC_CHARS}, or holds another character
     */
    public static String require(String topic) {
        Objects.requireNonNull(topic, "topic");
        if (topic.isEmpty() || topic.length() > Limits.TOPIC_CHARS) {
            throw new IllegalArgumentException("topic has " + topic.length() + " characters, allowed are 1 to "
                    + Limits.TOPIC_CHARS + ": " + Quoted.of(topic));
        }
        for (int i = 0; i < topic.length(); i++) {
            char c = topic.charAt(i);
            boolean plain = JobId.isPlain(c) && !Character.isUpperCase(c);
            if (!plain && "._-".indexOf(c) < 0) {
                throw new IllegalArgumentException("topic " + Quoted.of(topic) + " holds "
                        + Quoted.of(String.valueOf(c)) + " at position " + i + ", allowed are a-z 0-9 . _ -");
            }
        }
        return topic;
    }
}

package io.minutehand.router.http;

import io.minutehand.core.job.TopicName;
import java.util.Locale;

/**
 * What a key may do, and where: {@code right:topics}.
 *
 * @param right what
 * @param topics a topic, the beginning of topics and an asterisk ({@code orders.*}), or an asterisk for all
 */
record Scope(Right right, String topics) {
    /** What can be done. Administering includes the others. */
    enum Right {
        /** Schedule, cancel and move jobs. */
        PRODUCE,
        /** See jobs with their payloads, and topics, buckets, dead letters. */
        READ,
        /** Change topics, redrive and purge dead letters. */
        ADMIN;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static final String ALL = "*";

    /**
     * Reads {@code right:topics}.
     *
     * @throws IllegalArgumentException when it is none
     */
    static Scope of(String text) {
        int colon = text.indexOf(':');
        String topics = text.substring(colon + 1);
        for (Right right : Right.values()) {
            if (colon > 0 && text.substring(0, colon).equals(right.toString())) {
                String name = topics.endsWith(ALL) ? topics.substring(0, topics.length() - 1) : topics;
                if (!name.isEmpty() || topics.equals(ALL)) {
                    TopicName.require(name.isEmpty() ? "x" : name);
                    return new Scope(right, topics);
                }
            }
        }
        throw new IllegalArgumentException(
                "scope \"" + Json.shown(text)
                        + "\" is none; it is produce, read or admin, a colon, and a topic, the beginning of topics with *, or *");
    }

    boolean allows(Right wanted) {
        return right == wanted || right == Right.ADMIN;
    }

    boolean covers(String topic) {
        return topics.endsWith(ALL) ? topic.startsWith(topics.substring(0, topics.length() - 1)) : topics.equals(topic);
    }

    @Override
    public String toString() {
        return right + ":" + topics;
    }
}

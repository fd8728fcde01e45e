package io.minutehand.redis;

/** An error reply of Redis, such as {@code WRONGTYPE Operation against a key ...}. */
public final class RedisReplyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    RedisReplyException(String reply) {
        super(reply);
    }

    /** The first word of the reply, such as {@code NOSCRIPT}, {@code OOM} or {@code ERR}. */
    public String code() {
        String reply = String.valueOf(getMessage());
        int space = reply.indexOf(' ');
        return space < 0 ? reply : reply.substring(0, space);
    }
}

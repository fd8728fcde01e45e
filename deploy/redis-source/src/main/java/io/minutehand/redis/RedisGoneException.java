package io.minutehand.redis;

import java.io.IOException;
import java.io.UncheckedIOException;

/** A connection that stood failed, or a reply did not come in time: the server may be gone. The connection is useless. */
public final class RedisGoneException extends UncheckedIOException {
    private static final long serialVersionUID = 1L;

    RedisGoneException(String message, IOException cause) {
        super(message, cause);
    }
}

package io.minutehand.loadtest.fault;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * What a job's handler is to do; it stands in the payload as {@code <word>:<milliseconds>}, and whatever follows is
 * filling.
 *
 * @param kind what
 * @param ms how long it takes
 */
record Deed(Kind kind, long ms) {
    /** What a handler can do. */
    enum Kind {
        /** Takes its time and returns. */
        WORK,
        /** Throws at the first attempt and returns at the second. */
        FAIL_ONCE,
        /** Asks to be a dead letter. */
        DIE,
        /** Throws at every attempt. */
        THROW,
        /** Runs out of stack at every attempt. */
        STACK,
        /** Throws an OutOfMemoryError at every attempt. */
        MEMORY,
        /** Never returns, whoever interrupts it. */
        LOOP,
        /** Ends its process. */
        HALT,
        /** Is what no handler can read. */
        GARBAGE;

        /** Whether no attempt can succeed. */
        boolean isPoison() {
            return ordinal() >= THROW.ordinal();
        }
    }

    static Deed work(long ms) {
        return new Deed(Kind.WORK, ms);
    }

    byte[] payload() {
        return (kind.name().toLowerCase(Locale.ROOT) + ":" + ms + ":").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads a payload.
     *
     * @throws IllegalArgumentException if it is garbage
     */
    static Deed of(byte[] payload) {
        String[] parts = new String(payload, StandardCharsets.UTF_8).split(":", 3);
        Kind kind = Kind.valueOf(parts[0].toUpperCase(Locale.ROOT));
        if (kind == Kind.GARBAGE) {
            throw new IllegalArgumentException("garbage");
        }
        return new Deed(kind, Long.parseLong(parts[1]));
    }
}

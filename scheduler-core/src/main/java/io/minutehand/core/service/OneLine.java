package io.minutehand.core.service;

import io.minutehand.core.job.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Text of strangers (what handlers throw, what producers call their things) as it may stand in a log line or a stored reason: one line, of bounded
 * length, so that nobody forges lines of a log. Stateless.
 */
public final class OneLine {
    private OneLine() {}

    /** The text with everything that ends a line, controls a terminal or turns the direction of writing replaced by blanks, cut to {@link Limits#REASON_BYTES} characters. */
    public static String of(@Nullable String text) {
        String known = String.valueOf(text);
        int length = Math.min(known.length(), Limits.REASON_BYTES);
        StringBuilder line = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            char c = known.charAt(i);
            int type = Character.getType(c);
            boolean breaks = Character.isISOControl(c)
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR
                    || type == Character.FORMAT;
            line.append(breaks ? ' ' : c);
        }
        return line.toString();
    }

    /** Class and message of a failure. The message comes from code that is not ours: reading it may fail, too. */
    public static String of(Throwable failure) {
        String name = failure.getClass().getName();
        String shortName = name.substring(name.lastIndexOf('.') + 1);
        String message = message(failure);
        return of(message == null ? shortName : shortName + ": " + message);
    }

    /** The message of a failure, or a word that it could not be read. */
    public static @Nullable String message(Throwable failure) {
        try {
            return failure.getMessage();
        } catch (Throwable unreadable) {
            return "(its message cannot be read: " + unreadable.getClass().getName() + ")";
        }
    }
}

package io.minutehand.redis;

/**
 * Finds in a stream of RESP (2 or 3) where each request or reply ends, wherever the stream is cut into pieces. For one
 * thread, and for one direction of one connection.
 */
final class RespFrames {
    /** Of a line only its type and number matter; an error's text may be long. */
    private static final int LINE_LIMIT = 24;

    private static final int CRLF = 2;

    private final StringBuilder line = new StringBuilder(LINE_LIMIT);
    private final StringBuilder head = new StringBuilder();
    private final int headLimit;

    /** Values that the present one still needs, itself included; 0 between two values. */
    private long missing;

    /** Bytes of a bulk string that are still to come, with its line end. */
    private long bulk;

    private char type;

    /** True once something else than RESP was seen; then nothing ends any more. */
    private boolean broken;

    /**
     * Reads a new stream.
     *
     * @param headLimit how many bytes of each value's beginning are kept for {@link #head}
     */
    RespFrames(int headLimit) {
        this.headLimit = headLimit;
    }

    /** Returns whether the stream so far ends between two values. */
    boolean isBetween() {
        return missing == 0;
    }

    /**
     * Reads on until a value ends.
     *
     * @return the index after the end of the value, or -1 if it goes on beyond {@code to}, or if the stream is not RESP
     */
    int end(byte[] bytes, int from, int to) {
        int at = from;
        if (at < to && missing == 0) {
            missing = 1;
            type = (char) (bytes[at] & 0xff);
            head.setLength(0);
        }
        while (at < to && !broken) {
            int begin = at;
            if (bulk > 0) {
                int step = (int) Math.min(bulk, to - at);
                bulk -= step;
                at += step;
                if (bulk == 0) {
                    missing--;
                }
            } else {
                at = line(bytes, at, to);
            }
            keep(bytes, begin, at);
            if (missing == 0) {
                return at;
            }
        }
        return -1;
    }

    /** The type of the value that {@link #end} read last, such as {@code *}. */
    char type() {
        return type;
    }

    /** The beginning of the value that {@link #end} read last, a character a byte. */
    String head() {
        return head.toString();
    }

    private void keep(byte[] bytes, int begin, int end) {
        for (int i = begin; i < end && head.length() < headLimit; i++) {
            head.append((char) (bytes[i] & 0xff));
        }
    }

    private int line(byte[] bytes, int from, int to) {
        for (int at = from; at < to; at++) {
            if (bytes[at] == '\n') {
                header();
                line.setLength(0);
                return at + 1;
            }
            if (bytes[at] != '\r' && line.length() < LINE_LIMIT) {
                line.append((char) (bytes[at] & 0xff));
            }
        }
        return to;
    }

    private void header() {
        switch (line.isEmpty() ? ' ' : line.charAt(0)) {
            case '$', '!', '=' -> {
                long length = number();
                if (length < 0) {
                    missing--;
                } else {
                    bulk = length + CRLF;
                }
            }
            case '*', '~', '>' -> missing += Math.max(0, number()) - 1;
            case '%' -> missing += 2 * Math.max(0, number()) - 1;
            // Attributes stand before the value that they belong to.
            case '|' -> missing += 2 * Math.max(0, number());
            default -> missing--;
        }
    }

    private long number() {
        try {
            return Long.parseLong(line, 1, line.length(), 10);
        } catch (NumberFormatException e) {
            broken = true;
            return 0;
        }
    }
}

package io.minutehand.router.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Cuts a stream of bytes into lines; keeps one line and one chunk at most, and of a line that is too long nothing. Not thread-safe. */
final class Lines {
    private static final byte[] NOTHING = {};

    private final int most;
    private byte[] bytes = NOTHING;
    private int from;
    /** Up to here there is no line end. */
    private int searched;

    private boolean skipping;
    private byte @Nullable [] given;

    /** @param most bytes of a line, at most */
    Lines(int most) {
        this.most = most;
    }

    /** Takes more bytes; they may not be changed any more. */
    void add(byte[] more) {
        if (from == bytes.length) {
            bytes = more;
            searched = 0;
        } else {
            byte[] both = Arrays.copyOfRange(bytes, from, bytes.length + more.length);
            System.arraycopy(more, 0, both, bytes.length - from, more.length);
            bytes = both;
            searched = searched - from;
        }
        from = 0;
    }

    /**
     * The next whole line without its end; null while there is none.
     *
     * @param last whether nothing more comes, so that what is left is a line
     * @throws Problem (too large), once, in place of a line that is too long
     */
    byte @Nullable [] next(boolean last) {
        byte[] before = given;
        if (before != null) {
            given = null;
            return before;
        }
        while (true) {
            while (searched < bytes.length && bytes[searched] != '\n') {
                searched++;
            }
            boolean whole = searched < bytes.length;
            int length = searched - from;
            boolean skipped = skipping;
            if (!whole && !last && length <= most && !skipped) {
                return null;
            }
            if (length > most || skipped) {
                from = whole ? searched + 1 : searched;
                searched = from;
                skipping = !whole && !last;
                if (!skipped) {
                    throw Bodies.tooLarge("a line of more than that", most);
                }
                if (!whole) {
                    return null;
                }
                continue;
            }
            if (!whole && length == 0) {
                return null;
            }
            byte[] line = Arrays.copyOfRange(bytes, from, searched);
            from = whole ? searched + 1 : searched;
            searched = from;
            if (!isBlank(line)) {
                return line;
            }
        }
    }

    /** Gives a line back that is to be the next again. */
    void again(byte[] line) {
        given = line;
    }

    /** Whether all bytes have been taken. */
    boolean isEmpty() {
        return given == null && from == bytes.length;
    }

    private static boolean isBlank(byte[] line) {
        for (byte b : line) {
            if (b != ' ' && b != '\r' && b != '\t') {
                return false;
            }
        }
        return true;
    }
}

package io.minutehand.worker;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Lets so many lines a second through and counts the others; the next line that passes tells the count. Thread-safe. */
final class LogLimiter {
    private final int linesASecond;
    private long secondNs = System.nanoTime();
    private int lines;
    private long left;

    LogLimiter(int linesASecond) {
        this.linesASecond = linesASecond;
    }

    /** Calls {@code line} if it may log; it is given the text to append: empty, or how many lines were left out. */
    void log(Consumer<String> line) {
        String suffix;
        synchronized (this) {
            long nowNs = System.nanoTime();
            if (nowNs - secondNs >= TimeUnit.SECONDS.toNanos(1)) {
                secondNs = nowNs;
                lines = 0;
            }
            if (lines >= linesASecond) {
                left++;
                return;
            }
            lines++;
            suffix = left == 0 ? "" : " (and " + left + " more like this)";
            left = 0;
        }
        line.accept(suffix);
    }
}

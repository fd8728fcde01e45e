package io.minutehand.worker;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Lets so many lines a second through and counts the others; the next line that passes tells the count. Thread-safe. */
final class LogLimiter {
    private final int linesASecond;
    private final LongSupplier nanoTime;
    private long secondNs;
    private int lines;
    private long left;

    LogLimiter(int linesASecond) {
        this(linesASecond, System::nanoTime);
    }

    LogLimiter(int linesASecond, LongSupplier nanoTime) {
        this.linesASecond = linesASecond;
        this.nanoTime = nanoTime;
        this.secondNs = nanoTime.getAsLong();
    }

    /** Calls {@code line} if it may log; it is given the text to append: empty, or how many lines were left out. */
    void log(Consumer<String> line) {
        String suffix;
        synchronized (this) {
            long nowNs = nanoTime.getAsLong();
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

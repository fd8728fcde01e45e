package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogLimiterTest {
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 10);
    private final LogLimiter limiter = new LogLimiter(2, nowNs::get);
    private final List<String> lines = new ArrayList<>();

    private void log(int count) {
        for (int i = 0; i < count; i++) {
            limiter.log(left -> lines.add("line" + left));
        }
    }

    @Test
    void shouldLetSoManyLinesASecondThroughAndCountTheRest() {
        log(5);
        assertThat(lines).containsExactly("line", "line");
        // The clock's numbers may wrap around.
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        log(2);
        assertThat(lines).containsExactly("line", "line", "line (and 3 more like this)", "line");
    }

    @Test
    void shouldNotCountAgainWhatWasTold() {
        log(3);
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
        log(1);
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
        log(1);
        assertThat(lines).containsExactly("line", "line", "line (and 1 more like this)", "line");
    }
}

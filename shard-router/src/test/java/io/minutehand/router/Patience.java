package io.minutehand.router;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** How long tests wait for a condition: much longer than it takes on a busy machine, and looking often. */
final class Patience {
    private Patience() {}

    static ConditionFactory await(String condition) {
        return Awaitility.await(condition).atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }
}

package io.minutehand.loadtest.report;

import io.minutehand.loadtest.check.Verdict;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import io.minutehand.loadtest.report.RunFacts.Bucket;
import io.minutehand.loadtest.report.RunFacts.Kill;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How long the work of a node that is gone waited for others. */
public final class Takeover {
    private static final long MINUTE_US = 60_000_000L;

    private Takeover() {}

    /**
     * Returns the longest that one of the node's buckets waited for the first start on another node, milliseconds; null
     * if nothing of what it held was left to start.
     */
    public static @Nullable Double ms(Verdict verdict, Kill kill) {
        Map<Bucket, Long> takenUs = new HashMap<>();
        for (List<Start> starts : List.of(verdict.firstStarts(), verdict.repeatedStarts())) {
            for (Start start : starts) {
                Bucket bucket = bucketOf(start);
                if (start.startUs() > kill.atUs()
                        && !start.node().equals(kill.node())
                        && kill.held().contains(bucket)) {
                    takenUs.merge(bucket, start.startUs(), Math::min);
                }
            }
        }
        return takenUs.values().stream()
                .max(Long::compare)
                .map(us -> (us - kill.atUs()) / 1000.0)
                .orElse(null);
    }

    /**
     * Returns the longest that a job waited for its first start, milliseconds: from its due time, or from the last death of
     * a node that held its bucket where that came later. So a job whose heir dies as well is not held against the second.
     */
    public static double longestWaitMs(Verdict verdict, List<Kill> kills) {
        long longestUs = 0;
        for (Start start : verdict.firstStarts()) {
            long sinceUs = start.dueUs();
            for (Kill kill : kills) {
                if (kill.atUs() <= start.startUs() && kill.held().contains(bucketOf(start))) {
                    sinceUs = Math.max(sinceUs, kill.atUs());
                }
            }
            longestUs = Math.max(longestUs, start.startUs() - sinceUs);
        }
        return longestUs / 1000.0;
    }

    private static Bucket bucketOf(Start start) {
        return new Bucket(start.topic(), start.shard(), start.dueUs() / MINUTE_US);
    }
}

package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.Resharding;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends changes of shard counts: while a topic has earlier counts, the owner of its shard 0 looks from time to time whether an earlier home still
 * holds a job. When none does, none ever will, and when the tombstones of that time have gone, too, the earlier counts are forgotten. Only the
 * node's thread touches this.
 */
final class HomeKeeper {
    private static final Logger log = LoggerFactory.getLogger(HomeKeeper.class);
    private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(5);
    private static final Duration CALL_DEADLINE = Duration.ofSeconds(5);

    /** Longer than a tombstone that was written just before. */
    private static final Duration MARGIN = Duration.ofSeconds(2);

    private final Resharding resharding;
    private final NodeEngine engine;
    private final DueTimer.Timer timer;

    /** nanoTime since when topics are known to have no strays, by what was stored of them then. */
    private final Map<StoredTopic, Long> cleanSinceNs = new HashMap<>();

    private boolean busy;

    HomeKeeper(Resharding resharding, NodeEngine engine, DueTimer timer) {
        this.resharding = resharding;
        this.engine = engine;
        this.timer = timer.timer(() -> runOnce(System.nanoTime()));
    }

    void start(long nowNs) {
        timer.setAt(nowNs + EVERY_NS);
    }

    void stop() {
        timer.cancel();
    }

    /** One pass: begins at most one look or change; returns how many. */
    int runOnce(long nowNs) {
        timer.setAt(nowNs + EVERY_NS);
        cleanSinceNs
                .keySet()
                .removeIf(topic -> engine.topics().stream().noneMatch(work -> topic.equals(work.stored())));
        for (TopicWork work : engine.topics()) {
            StoredTopic topic = work.stored();
            if (busy || topic == null || topic.earlier().isEmpty() || !ownsFirstShard(topic)) {
                continue;
            }
            Long cleanNs = cleanSinceNs.get(topic);
            if (cleanNs == null) {
                look(topic);
                return 1;
            }
            if (nowNs - cleanNs > topic.settings().retention().plus(MARGIN).toNanos()) {
                settle(topic);
                return 1;
            }
        }
        return 0;
    }

    private boolean ownsFirstShard(StoredTopic topic) {
        Shard first = engine.shard(new ShardId(topic.topic(), 0));
        return first != null && first.rank == 0;
    }

    private void look(StoredTopic topic) {
        busy = true;
        resharding.strays(topic).whenComplete(StoreCalls.guarded((strays, failure) -> {
            busy = false;
            if (strays == null) {
                engine.calls().failed(topic.topic(), failure);
            } else if (!strays) {
                cleanSinceNs.put(topic, System.nanoTime());
            }
        }));
    }

    private void settle(StoredTopic topic) {
        busy = true;
        resharding
                .settle(topic, System.nanoTime() + CALL_DEADLINE.toNanos())
                .whenComplete(StoreCalls.guarded((stored, failure) -> {
                    busy = false;
                    settled(topic, stored, failure);
                }));
    }

    private void settled(StoredTopic topic, @Nullable StoredTopic stored, @Nullable Throwable failure) {
        if (stored == null) {
            engine.calls().failed(topic.topic(), failure);
        } else if (stored.equals(topic.settled())) {
            log.info(
                    "topic: no job lives by earlier shard counts any more topic={} earlier={} shards={}",
                    topic.topic(),
                    topic.earlier(),
                    topic.settings().shards());
        }
    }
}

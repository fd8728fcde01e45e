package io.minutehand.worker;

import io.minutehand.core.service.OneLine;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.TopicRegistry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of the topics that this node handles, as Redis holds them: declared at the start, read again about every second, declared again when
 * Redis may have come back empty. Only the node's thread touches this.
 */
final class TopicWatch {
    private static final Logger log = LoggerFactory.getLogger(TopicWatch.class);
    /** A pause is to hold within a second. */
    private static final long EVERY_NS = TimeUnit.MILLISECONDS.toNanos(800);

    /** A node with very many topics reads them more seldom: 1,000 in 5 s. */
    private static final long EVERY_NS_PER_TOPIC = TimeUnit.MILLISECONDS.toNanos(5);

    private static final long CALL_DEADLINE_NS = TimeUnit.SECONDS.toNanos(5);

    private final TopicRegistry registry;
    private final NodeEngine engine;
    private final DueTimer.Timer timer;
    private boolean reading;

    TopicWatch(TopicRegistry registry, NodeEngine engine, DueTimer timer) {
        this.registry = registry;
        this.engine = engine;
        this.timer = timer.timer(this::refresh);
    }

    void start(long nowNs) {
        engine.topics().forEach(this::learn);
        timer.setAt(nowNs + pauseNs());
    }

    void stop() {
        timer.cancel();
    }

    /** Declares everything again: Redis may know nothing of it. */
    void declareAgain() {
        for (TopicWork topic : engine.topics()) {
            registry.refresh(topic.topic(), deadlineNs())
                    .whenComplete(StoreCalls.guarded((stored, failure) -> taken(topic, stored, failure)));
        }
    }

    private long pauseNs() {
        return Math.max(EVERY_NS, engine.topics().size() * EVERY_NS_PER_TOPIC);
    }

    private static long deadlineNs() {
        return System.nanoTime() + CALL_DEADLINE_NS;
    }

    private void learn(TopicWork topic) {
        registry.ensure(topic.topic(), deadlineNs())
                .whenComplete(StoreCalls.guarded((stored, failure) -> taken(topic, stored, failure)));
    }

    private void taken(TopicWork topic, @Nullable StoredTopic stored, @Nullable Throwable failure) {
        if (stored == null) {
            log.warn(
                    "topic: settings cannot be read yet topic={} cause=\"{}\"",
                    topic.topic(),
                    failure == null ? "" : OneLine.of(failure));
        } else if (!stored.equals(topic.stored())) {
            engine.learned(topic, stored);
        }
    }

    private void refresh() {
        timer.setAt(System.nanoTime() + pauseNs());
        if (reading) {
            return;
        }
        reading = true;
        registry.refreshKnown(deadlineNs()).whenComplete(StoreCalls.guarded((done, failure) -> {
            reading = false;
            if (failure != null) {
                engine.calls().failed("", failure);
            }
            for (TopicWork topic : engine.topics()) {
                registry.known(topic.topic()).ifPresentOrElse(stored -> taken(topic, stored, null), () -> learn(topic));
            }
        }));
    }
}

package io.minutehand.router;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Routers over real servers, each in a namespace that nobody used. */
final class Redises {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final long RUN = ProcessHandle.current().pid();

    private Redises() {}

    static RedisOptions shared() {
        return options(SharedRedis.get());
    }

    /** Patient: on a busy machine no reply counts as lost, so that what is created is not said to exist. */
    static RedisOptions options(RedisInstance instance) {
        return impatient(instance).withReplyTimeout(Duration.ofSeconds(8));
    }

    /** With the default reply time-out: for tests in which replies do get lost. */
    static RedisOptions impatient(RedisInstance instance) {
        return RedisOptions.of(instance.uri()).withNamespace("r" + RUN + "-" + NUMBER.incrementAndGet());
    }

    /** A router over a server of one's own. */
    static JobRouter.Builder router(RedisInstance instance) {
        return JobRouter.builder().redis(options(instance));
    }
}

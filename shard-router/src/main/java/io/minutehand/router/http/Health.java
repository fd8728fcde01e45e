package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code /healthz}: the process answers. {@code /readyz}: it can store jobs, or why not. Redis is asked once a second at most, however often this is.
 * Thread-safe.
 */
final class Health {
    private static final Logger log = LoggerFactory.getLogger(Health.class);
    private static final long FRESH_NS = TimeUnit.SECONDS.toNanos(1);

    /** An answer of Redis, or why there is none. */
    private record Look(long atNs, CompletableFuture<@Nullable String> failure) {}

    private final Topics topics;
    private final AtomicReference<@Nullable Look> last = new AtomicReference<>();
    private volatile boolean stopping;
    private volatile @Nullable String keys;

    /** @param topics is asked whether Redis takes jobs */
    Health(Topics topics) {
        this.topics = topics;
    }

    /** From now on the router is not ready: it is about to stop. */
    void stopping() {
        stopping = true;
    }

    /** What is wrong with the file of keys, or null. */
    void keys(@Nullable String problem) {
        keys = problem;
    }

    /** GET /healthz. */
    void alive(Call call) {
        call.json(200, Json.MAPPER.createObjectNode().put("status", "UP"));
    }

    /** What keeps the router from storing jobs; nothing when it stores them. */
    CompletableFuture<List<String>> whyNotReady() {
        return redis().thenApply(redis -> {
            List<String> reasons = new ArrayList<>();
            if (stopping) {
                reasons.add("the router is stopping");
            }
            if (redis != null) {
                reasons.add(redis);
            }
            return reasons;
        });
    }

    /** GET /readyz. */
    void ready(Call call) {
        call.when(whyNotReady(), reasons -> {
            ObjectNode body = Json.MAPPER.createObjectNode().put("status", reasons.isEmpty() ? "READY" : "NOT_READY");
            ArrayNode why = body.putArray("reasons");
            reasons.forEach(why::add);
            String stale = keys;
            if (stale != null) {
                body.putArray("warnings").add(stale);
            }
            call.json(reasons.isEmpty() ? 200 : 503, body);
        });
    }

    /** Null when Redis takes jobs. */
    private CompletableFuture<@Nullable String> redis() {
        Look before = last.get();
        long nowNs = System.nanoTime();
        if (before != null && (!before.failure.isDone() || nowNs - before.atNs < FRESH_NS)) {
            return before.failure;
        }
        CompletableFuture<@Nullable String> failure = new CompletableFuture<>();
        if (!last.compareAndSet(before, new Look(nowNs, failure))) {
            return redis();
        }
        topics.takeJobs().whenComplete((unused, cause) -> {
            if (cause == null) {
                failure.complete(null);
                return;
            }
            StoreException store = StoreException.of(cause);
            log.warn("router: not ready, Redis takes no jobs cause={}", Json.line(String.valueOf(store.getMessage())));
            failure.complete(
                    store.kind() == StoreException.Kind.FULL
                            ? "Redis is at maxmemory, and takes no jobs"
                            : "Redis does not answer, or refuses; the router's log says more");
        });
        return failure;
    }
}

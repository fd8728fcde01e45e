package io.minutehand.router.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads for what blocks: a person's look at the cluster. Few, and few calls wait for them. Thread-safe. */
final class Blocking {
    private static final int THREADS = 8;
    private static final int CALLS = 32;
    private static final long WARN_AFTER_S = 60;

    private final WorkerExecutor threads;
    private final AtomicInteger calls = new AtomicInteger();

    Blocking(Vertx vertx) {
        this.threads =
                vertx.createSharedWorkerExecutor("minutehand-http-admin", THREADS, WARN_AFTER_S, TimeUnit.SECONDS);
    }

    /**
     * Answers 200 with what the work returns, or with what its failure means.
     *
     * @throws Problem when too many calls are waiting
     */
    void answer(Call call, Callable<? extends JsonNode> work) {
        run(call, work, body -> call.json(200, body));
    }

    /** As {@link #answer}, for another answer. */
    <T> void run(Call call, Callable<T> work, Call.Continuation<T> then) {
        call.atEnd(calls::decrementAndGet);
        if (calls.incrementAndGet() > CALLS) {
            throw Problem.passing(
                    ProblemType.TOO_MANY_REQUESTS, CALLS + " calls of this kind are under way", Call.SOON_S);
        }
        CompletableFuture<T> done =
                threads.executeBlocking(work, false).toCompletionStage().toCompletableFuture();
        call.when(done, then);
    }
}

package io.minutehand.core.store;

import io.minutehand.core.job.Durability;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RScriptAsync;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * Runs scripts, the only place that does.
 *
 * <p>Redisson resends an EVAL whose reply timed out, which would run a script several times under one call: so it is told never to
 * ({@code retryAttempts(0)}), and repeats are made here, exactly alike, by callers who say until when. A server that lost its script cache gets
 * the text. Futures complete on the executor given, never on a Netty thread. Thread-safe.
 */
final class ScriptRunner {
    /** First and longest pause between repeats, ms: soon enough for a fail-over, rare enough for an outage. */
    private static final long FIRST_PAUSE_MS = 20;

    private static final long LONGEST_PAUSE_MS = 500;

    private final RedissonClient client;
    private final Duration replyTimeout;
    private final RScript scripts;
    private final ScriptLibrary library;
    private final Executor executor;
    private final Failures failures;

    ScriptRunner(RedissonClient client, Duration replyTimeout, ScriptLibrary library, Executor executor) {
        this.client = client;
        this.replyTimeout = replyTimeout;
        this.scripts = client.getScript(OptionalOptions.defaults()
                .codec(ByteArrayCodec.INSTANCE)
                .timeout(replyTimeout)
                .retryAttempts(0));
        this.library = library;
        // A closed executor must not swallow a completion: somebody waits for it.
        this.executor = task -> {
            try {
                executor.execute(task);
            } catch (RejectedExecutionException closed) {
                task.run();
            }
        };
        this.failures = new Failures();
    }

    /** Runs a completion on the executor, or here when that is closed: somebody waits for it. */
    void complete(Runnable completion) {
        executor.execute(completion);
    }

    /** What a failed call of the client, other than a script, means to the caller. */
    StoreException translate(String what, Throwable failure) {
        return failures.translate(what, unwrap(failure));
    }

    /** Runs a script once; fails with a {@link StoreException}. */
    CompletableFuture<Reply> run(Call call) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        long sentNs = System.nanoTime();
        send(call, false).whenComplete((values, failure) -> {
            long receivedNs = System.nanoTime();
            deliver(answer, call, values, 0, failure, sentNs, receivedNs);
        });
        return answer;
    }

    /**
     * Runs a script once and waits, on its connection, until replicas have what it wrote; the reply says how many had it in time. Fails with a
     * {@link StoreException}.
     */
    CompletableFuture<Reply> runAndWait(Call call, Durability durability) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        long sentNs = System.nanoTime();
        sendAndWait(call, durability, false).whenComplete((waited, failure) -> {
            long receivedNs = System.nanoTime();
            deliver(
                    answer,
                    call,
                    waited == null ? List.of() : waited.values(),
                    waited == null ? 0 : waited.replicas(),
                    failure,
                    sentNs,
                    receivedNs);
        });
        return answer;
    }

    /** WAIT is for the writes of its own connection, so script and WAIT go in one batch. */
    private CompletableFuture<Waited> sendAndWait(Call call, Durability durability, boolean withText) {
        try {
            RBatch batch = client.createBatch(BatchOptions.defaults()
                    .responseTimeout(replyTimeout.toMillis(), TimeUnit.MILLISECONDS)
                    .retryAttempts(0)
                    .sync(durability.replicas(), durability.within()));
            CompletableFuture<List<Object>> values = evaluate(batch.getScript(ByteArrayCodec.INSTANCE), call, withText);
            // Not thenCombine: that waits for both, and of a batch that failed the single replies may never come.
            CompletableFuture<Waited> waited = batch.executeAsync()
                    .toCompletableFuture()
                    .thenCompose(result -> values.thenApply(list -> new Waited(list, result.getSyncedSlaves())));
            return withText
                    ? waited
                    : waited.exceptionallyCompose(failure -> unwrap(failure) instanceof RedisNoScriptException
                            ? sendAndWait(call, durability, true)
                            : CompletableFuture.failedFuture(failure));
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private record Waited(List<Object> values, int replicas) {}

    /**
     * Runs a script, and again with the same keys and arguments while it fails in a way that may pass, until the deadline.
     *
     * @param deadlineNs nanoTime after which no repeat is sent
     */
    CompletableFuture<Reply> runUntil(Call call, long deadlineNs) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        attempt(call, deadlineNs, FIRST_PAUSE_MS, answer);
        return answer;
    }

    private void attempt(Call call, long deadlineNs, long pauseMs, CompletableFuture<Reply> answer) {
        run(call).whenComplete((reply, failure) -> {
            if (reply != null) {
                answer.complete(reply);
                return;
            }
            StoreException store = StoreException.of(failure);
            long drawnMs = ThreadLocalRandom.current().nextLong(pauseMs / 2, pauseMs + 1);
            boolean inTime = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drawnMs) < deadlineNs;
            if (!store.kind().repeatable() || !inTime) {
                answer.completeExceptionally(store);
                return;
            }
            long nextPauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
            CompletableFuture.delayedExecutor(drawnMs, TimeUnit.MILLISECONDS, executor)
                    .execute(() -> attempt(call, deadlineNs, nextPauseMs, answer));
        });
    }

    private CompletableFuture<List<Object>> send(Call call, boolean withText) {
        try {
            CompletableFuture<List<Object>> answered = evaluate(scripts, call, withText);
            return withText
                    ? answered
                    : answered.exceptionallyCompose(failure -> unwrap(failure) instanceof RedisNoScriptException
                            ? send(call, true)
                            : CompletableFuture.failedFuture(failure));
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private CompletableFuture<List<Object>> evaluate(RScriptAsync on, Call call, boolean withText) {
        RScript.Mode mode = RScript.Mode.READ_WRITE;
        List<Object> keys = new ArrayList<>(call.keys());
        Object[] values = call.args().toArray();
        RFuture<List<Object>> sent = withText
                ? on.evalAsync(mode, library.text(call.script()), RScript.ReturnType.LIST, keys, values)
                : on.evalShaAsync(mode, library.sha(call.script()), RScript.ReturnType.LIST, keys, values);
        return sent.toCompletableFuture();
    }

    private void deliver(
            CompletableFuture<Reply> answer,
            Call call,
            List<Object> values,
            int replicas,
            Throwable failure,
            long sentNs,
            long receivedNs) {
        Runnable completion = failure == null
                ? () -> answer.complete(new Reply(values, replicas, sentNs, receivedNs))
                : () -> answer.completeExceptionally(failures.translate(call, unwrap(failure)));
        executor.execute(completion);
    }

    private static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** A script with its keys and arguments, as they go over the wire. */
    record Call(Script script, List<String> keys, List<byte[]> args) {
        Call(Script script) {
            this(script, new ArrayList<>(), new ArrayList<>());
        }

        Call key(String key) {
            keys.add(key);
            return this;
        }

        Call keys(List<String> more) {
            keys.addAll(more);
            return this;
        }

        Call arg(byte[] value) {
            args.add(value);
            return this;
        }

        Call arg(String value) {
            args.add(value.getBytes(StandardCharsets.UTF_8));
            return this;
        }

        Call arg(long value) {
            return arg(Long.toString(value));
        }
    }
}

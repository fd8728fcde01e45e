package io.minutehand.router;

import io.minutehand.core.topic.StoredTopic;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cancel, reschedule or find between its call and its answer. The loop starts it.
 *
 * @param <R> the type of its answer
 */
final class WaitingOrder<R> implements Arrival {
    private final Ticket ticket;
    private final String name;
    private final Function<StoredTopic, CompletableFuture<R>> call;
    /** The answer when none came in time; null = the future fails. */
    private final @Nullable R unknown;

    private final CompletableFuture<R> future = new CompletableFuture<>();
    /** Jobs of its lane that must be answered before it starts. */
    private long after;

    private boolean settled;
    private @Nullable R answer;
    private @Nullable Throwable failure;

    WaitingOrder(Ticket ticket, String name, Function<StoredTopic, CompletableFuture<R>> call, @Nullable R unknown) {
        this.ticket = ticket;
        this.name = name;
        this.call = call;
        this.unknown = unknown;
    }

    CompletableFuture<R> future() {
        return future;
    }

    @Override
    public Ticket ticket() {
        return ticket;
    }

    long after() {
        return after;
    }

    void startAfter(long jobs) {
        after = jobs;
    }

    /** Sends it; completes when it is settled. */
    CompletableFuture<Void> start(StoredTopic topic) {
        return call.apply(topic).handle((value, cause) -> {
            if (cause == null) {
                settle(value, null);
            } else if (Causes.mayPass(Causes.of(cause))) {
                settleLate(Causes.of(cause));
            } else {
                settle(null, Causes.of(cause));
            }
            return null;
        });
    }

    /** No answer came in time. */
    void settleLate(@Nullable Throwable cause) {
        if (unknown != null) {
            settle(unknown, null);
        } else {
            TimeoutException late = new TimeoutException(name + " of job " + id() + " in topic=" + route().topic()
                    + " got no answer before its deadline" + (cause == null ? "" : ": " + cause.getMessage()));
            late.initCause(cause);
            settle(null, late);
        }
    }

    void fail(Throwable cause) {
        settle(null, cause);
    }

    private void settle(@Nullable R value, @Nullable Throwable cause) {
        if (!settled) {
            settled = true;
            answer = value;
            failure = cause;
            route().callbacks().add(this);
            route().callbacks().wake();
        }
    }

    @Override
    @SuppressWarnings("NullAway") // the answer is set unless there is a failure
    public void deliver() {
        if (failure != null) {
            future.completeExceptionally(failure);
        } else {
            future.complete(answer);
        }
    }
}

package io.minutehand.router;

import io.minutehand.core.store.StoreException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** What is behind the failures of futures. Stateless. */
final class Causes {
    private Causes() {}

    /** The failure without the wrappings of futures. */
    static Throwable of(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** Whether it may be over by now: an outage rather than a refusal. */
    static boolean mayPass(Throwable cause) {
        return cause instanceof StoreException store && store.kind().repeatable();
    }
}

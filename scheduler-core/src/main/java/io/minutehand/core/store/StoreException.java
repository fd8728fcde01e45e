package io.minutehand.core.store;

import org.jspecify.annotations.Nullable;

/** A call on Redis that got no answer of its script. {@link #kind} says what that means for the caller. */
public final class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What a failed call means. */
    public enum Kind {
        /** Refused before any write because the server is at maxmemory: nothing happened. */
        FULL(false),
        /** Refused before any write, by a state that passes (loading, fail-over, moving slot, busy): nothing happened, repeat it. */
        UNAVAILABLE(true),
        /** No reply: it may have happened, or not. Repeat the very same call. */
        UNKNOWN(true),
        /** Refused for good (permissions, an error in a script): a repeat would fail alike. */
        REFUSED(false);

        private final boolean repeatable;

        Kind(boolean repeatable) {
            this.repeatable = repeatable;
        }

        /** Whether the same call may succeed later. */
        public boolean repeatable() {
            return repeatable;
        }
    }

    private final Kind kind;

    StoreException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** The store exception inside the wrappings of futures, or one of kind REFUSED around whatever else it is. */
    public static StoreException of(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof java.util.concurrent.CompletionException
                        || cause instanceof java.util.concurrent.ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof StoreException store
                ? store
                : new StoreException(Kind.REFUSED, "store call failed: " + cause, cause);
    }
}

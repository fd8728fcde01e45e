package io.minutehand.core.store;

/** Failures of the store, for tests of what callers make of them. */
public final class TestFailures {
    private TestFailures() {}

    /** A failure of this kind. */
    public static StoreException of(StoreException.Kind kind) {
        return new StoreException(kind, "as a test wants it", null);
    }
}

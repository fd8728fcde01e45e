package io.minutehand.worker.reconcile;

/** A query or its keys cannot be read page by page without leaving rows out. */
final class UnusableQueryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnusableQueryException(String message) {
        super(message);
    }
}

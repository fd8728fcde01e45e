package io.minutehand.worker.reconcile;

/** Redis did not take a job, or did not say so in time; the page is done once more. */
final class NotStoredException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotStoredException(String message) {
        super(message);
    }
}

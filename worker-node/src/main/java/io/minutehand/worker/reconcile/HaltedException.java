package io.minutehand.worker.reconcile;

/** A page is left where it is, nothing more is written; why is not a failure. */
final class HaltedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why. */
    enum Reason {
        /** Another node may hold the lease by now. */
        LEASE_LOST,
        /** The reconciler was told to stop. */
        STOPPING
    }

    private final Reason reason;

    HaltedException(Reason reason) {
        super(reason.toString(), null, false, false);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }
}

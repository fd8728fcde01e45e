package io.minutehand.worker.reconcile;

/** Is told of each pass that this node completed. */
@FunctionalInterface
public interface PassListener {
    /** Called on the reconciler's thread, which goes on only afterwards; what it throws is logged. */
    void passed(PassReport report);
}

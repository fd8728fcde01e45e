package io.minutehand.router.outbox;

/** The steps of a pass between which a process can die: a test throws an error there. */
interface Steps {
    Steps NONE = new Steps() {};

    /** Rows are locked; nothing of them was sent. */
    default void claimed() {}

    /** Redis has answered; no row is deleted. */
    default void sent() {}

    /** Rows are deleted, but not committed. */
    default void settled() {}
}

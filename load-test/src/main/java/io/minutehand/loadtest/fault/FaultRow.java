package io.minutehand.loadtest.fault;

import java.time.Duration;

/**
 * One row of the matrix: what is set up, what is broken, what must hold. Rows are told apart by their number; a row has
 * no state between runs except what its script learns for its checks.
 */
interface FaultRow {
    /** The number in the matrix, such as {@code 11}. */
    String number();

    /** The fault, in a few words. */
    String fault();

    /** What must hold, in words; the measured values stand beside it in the report. */
    String passLine();

    /** What the run is set to. */
    default RunSettings settings(boolean full) {
        return RunSettings.of(full);
    }

    /** Breaks things while the load runs. Returns when the last fault was made; what it leaves broken is healed then. */
    void strike(Arena arena) throws Exception;

    /** Checks what this row promises beyond that nothing is lost. Called when everything has ended. */
    void judge(Judge judge);

    /** Whether Redis keeps its counters: not if it comes back empty. */
    default boolean keepsCounters() {
        return true;
    }

    /** Whether times that were noted can be compared: not if the clock by which all is judged was set meanwhile. */
    default boolean keepsTime() {
        return true;
    }

    /** How long the backlog may take to go, from the healing or the last due time. */
    default Duration drains() {
        return Duration.ofSeconds(60);
    }

    /** Whether each build runs it. */
    default boolean isFast() {
        return false;
    }
}

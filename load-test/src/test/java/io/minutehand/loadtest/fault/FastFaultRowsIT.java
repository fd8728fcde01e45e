package io.minutehand.loadtest.fault;

/** The rows of the fault matrix that every build runs. */
class FastFaultRowsIT extends FaultRowsRun {
    FastFaultRowsIT() {
        super(FaultRow::isFast, 3);
    }
}

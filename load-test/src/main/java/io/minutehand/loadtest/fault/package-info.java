/**
 * The fault matrix: a run is Redis, three worker processes, producers, the external ledger, and one row that breaks
 * something and says what must hold. {@link io.minutehand.loadtest.fault.FaultRun} does what all rows share.
 */
@NullMarked
package io.minutehand.loadtest.fault;

import org.jspecify.annotations.NullMarked;

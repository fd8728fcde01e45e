/** Repair from the database: finds rows that should have a job and have none, and puts the jobs back. Needs java.sql alone. */
@NullMarked
package io.minutehand.worker.reconcile;

import org.jspecify.annotations.NullMarked;

/** Judges a run from its external ledger: what was lost, ran twice or early, and how late the rest was. */
@NullMarked
package io.minutehand.loadtest.check;

import org.jspecify.annotations.NullMarked;

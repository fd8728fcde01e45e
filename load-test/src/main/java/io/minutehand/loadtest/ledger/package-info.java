/** The external ledger: append-only files of every process, from which a run is judged without asking the product. */
@NullMarked
package io.minutehand.loadtest.ledger;

import org.jspecify.annotations.NullMarked;

/** Schedulers that the lab measures, the product's and others' designs, behind one interface. */
@NullMarked
package io.minutehand.loadtest.baseline;

import org.jspecify.annotations.NullMarked;

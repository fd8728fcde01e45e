/** Load and fault scenarios, benchmarks and the demo. */
@NullMarked
package io.minutehand.loadtest;

import org.jspecify.annotations.NullMarked;

/** The producer's door: schedules, cancels and moves jobs. */
@NullMarked
package io.minutehand.router;

import org.jspecify.annotations.NullMarked;

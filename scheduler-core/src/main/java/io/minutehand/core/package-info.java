/** The scheduler's vocabulary and the only code that talks to Redis. */
@NullMarked
package io.minutehand.core;

import org.jspecify.annotations.NullMarked;

/** The vocabulary: jobs, their states, how they are retried, and the limits of each. */
@NullMarked
package io.minutehand.core.job;

import org.jspecify.annotations.NullMarked;

/** A service that takes webhooks, to look at what a cluster delivers. */
@NullMarked
package io.minutehand.loadtest.receiver;

import org.jspecify.annotations.NullMarked;

/** Delivers due jobs to URLs: signed requests, with what keeps them away from where they must not go, and from a receiver that is down. */
@NullMarked
package io.minutehand.worker.webhook;

import org.jspecify.annotations.NullMarked;

/** What is measured: lateness and handler time per topic, and counters. */
@NullMarked
package io.minutehand.core.telemetry;

import org.jspecify.annotations.NullMarked;

/** The node that claims buckets and runs the handlers of due jobs. */
@NullMarked
package io.minutehand.worker;

import org.jspecify.annotations.NullMarked;

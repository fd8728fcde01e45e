/** Finds or starts the Redis that tests, the test kit and the demo run against. */
@NullMarked
package io.minutehand.redis;

import org.jspecify.annotations.NullMarked;

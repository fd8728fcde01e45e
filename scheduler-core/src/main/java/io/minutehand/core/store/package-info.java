/** The only package that knows Redisson: connection, scripts, and a method for each of them. */
@NullMarked
package io.minutehand.core.store;

import org.jspecify.annotations.NullMarked;

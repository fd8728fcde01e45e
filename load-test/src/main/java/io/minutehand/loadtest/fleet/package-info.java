/** Worker processes of their own and what looks at them and at Redis from outside: what the demo and the fault runs share. */
@NullMarked
package io.minutehand.loadtest.fleet;

import org.jspecify.annotations.NullMarked;

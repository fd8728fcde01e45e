/** The load lab: jobs sent by the clock, processes of their own for producers and workers, figures from what these noted. */
@NullMarked
package io.minutehand.loadtest.lab;

import org.jspecify.annotations.NullMarked;

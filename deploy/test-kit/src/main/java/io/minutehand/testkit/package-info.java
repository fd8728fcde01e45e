/** Helpers for the tests of applications that schedule or handle jobs. */
@NullMarked
package io.minutehand.testkit;

import org.jspecify.annotations.NullMarked;

package io.minutehand.core.store;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Which replies of which scripts a test shows: {@code "pop FENCED"}, or {@code "stats"} for a script without statuses.
 * {@link ReplyCoverageTest} compares them with what the headers promise.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Replies {
    String[] value();
}

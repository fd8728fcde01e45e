package io.minutehand.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/** A test that is left out when the tests run against a Redis Cluster; the value says why. */
@Tag("single-server")
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface SingleServer {
    /** Why it makes no sense on a Cluster. */
    String value();
}

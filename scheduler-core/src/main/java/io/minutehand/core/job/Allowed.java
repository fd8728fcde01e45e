package io.minutehand.core.job;

import java.time.Duration;

/** Checks of settings: all refuse a value in the same words, which name the setting, its value and what is allowed. */
public final class Allowed {
    private Allowed() {}

    /**
     * Refuses a value unless it holds.
     *
     * @param name of the setting, as its user gives it
     * @param allowed what is, in words
     * @throws IllegalArgumentException when it does not hold
     */
    public static void require(boolean holds, String name, Object value, String allowed) {
        if (!holds) {
            throw new IllegalArgumentException(name + "=" + value + ", allowed are " + allowed);
        }
    }

    /**
     * Refuses a number out of its range.
     *
     * @throws IllegalArgumentException when it is less than {@code least} or more than {@code most}
     */
    public static void requireWithin(String name, long value, long least, long most) {
        require(value >= least && value <= most, name, value, least + " to " + most);
    }

    /**
     * Refuses a time out of its range.
     *
     * @throws IllegalArgumentException when it is less than {@code least} or more than {@code most}
     */
    public static void requireWithin(String name, Duration value, Duration least, Duration most) {
        require(value.compareTo(least) >= 0 && value.compareTo(most) <= 0, name, value, least + " to " + most);
    }
}

package io.minutehand.loadtest.demo;

/** The run could not show what it was meant to show. */
final class InvalidRunException extends Exception {
    private static final long serialVersionUID = 1L;

    InvalidRunException(String message) {
        super(message);
    }
}

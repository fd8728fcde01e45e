package io.minutehand.worker.webhook;

/** A webhook that was not taken: a failed attempt, retried by the topic's policy. */
public final class DeliveryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DeliveryException(String message) {
        super(message, null, false, false);
    }
}

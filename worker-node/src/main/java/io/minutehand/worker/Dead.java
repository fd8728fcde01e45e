package io.minutehand.worker;

import java.util.Objects;

/** Thrown by a handler: this job can never succeed, make it a dead letter now, whatever attempts are left. */
public final class Dead extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Dead(String reason) {
        super(Objects.requireNonNull(reason, "reason"), null, false, false);
    }

    /** A dead letter with this reason (stored, cut to 512 bytes). */
    public static Dead because(String reason) {
        return new Dead(reason);
    }
}

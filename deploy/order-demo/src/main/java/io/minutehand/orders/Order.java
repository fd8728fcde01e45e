package io.minutehand.orders;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order, as its row says.
 *
 * @param id from the database
 * @param item what was ordered
 * @param priceCents what it costs
 * @param status what has become of it
 * @param createdAt by the clock of the database
 * @param dueAt when it is closed unless it was paid, whole milliseconds
 * @param endedAt when it was paid or closed, null while it is open
 */
record Order(
        long id,
        String item,
        long priceCents,
        Status status,
        Instant createdAt,
        Instant dueAt,
        @Nullable Instant endedAt) {
    /** Moved on by one UPDATE each, which wants WAIT_PAY: so the first of two wins, and the end is an end. */
    enum Status {
        WAIT_PAY,
        PAID,
        CLOSED
    }
}

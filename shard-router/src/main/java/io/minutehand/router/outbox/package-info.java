/**
 * Jobs that exist if, and only if, a database transaction commits.
 *
 * <p>{@link io.minutehand.router.outbox.JobOutbox} writes a job into a table of the caller's database, inside the caller's transaction, and
 * schedules it right after the commit; {@link io.minutehand.router.outbox.OutboxRelay} schedules what a crash or an outage left in the table. Both
 * do it by {@code OutboxPass}: claim committed rows, schedule them, delete them. {@code OutboxTable} is the only place that knows SQL. Needs
 * nothing but {@code java.sql}.
 */
@NullMarked
package io.minutehand.router.outbox;

import org.jspecify.annotations.NullMarked;

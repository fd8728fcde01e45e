/**
 * The order demo: a shop on PostgreSQL whose unpaid orders are closed by jobs. {@link io.minutehand.orders.OrderDemoCommand}
 * is the command, {@code OrderService} what a shop would have, {@code OrderWorker} the process that closes, {@code Balance}
 * the judge.
 */
@NullMarked
package io.minutehand.orders;

import org.jspecify.annotations.NullMarked;

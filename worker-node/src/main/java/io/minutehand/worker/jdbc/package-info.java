/**
 * What handlers need whose effect is in a database: {@link io.minutehand.worker.jdbc.HandledJobs} makes an effect happen once, however often its
 * job runs. Needs nothing but {@code java.sql}.
 */
@NullMarked
package io.minutehand.worker.jdbc;

import org.jspecify.annotations.NullMarked;

/**
 * Finds or starts the PostgreSQL that tests and the demo run against. {@link io.minutehand.postgres.PostgresSource}
 * chooses, {@link io.minutehand.postgres.PostgresServer} runs a process, {@link io.minutehand.postgres.SharedPostgres} is
 * the one that the tests of a JVM share.
 */
@NullMarked
package io.minutehand.postgres;

import org.jspecify.annotations.NullMarked;

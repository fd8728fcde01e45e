/** What parts that keep their rows in the application's database share. */
@NullMarked
package io.minutehand.core.jdbc;

import org.jspecify.annotations.NullMarked;

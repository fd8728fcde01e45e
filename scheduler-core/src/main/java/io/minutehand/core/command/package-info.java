/** What all commands share. Needs picocli, which is optional: nothing but commands may know this package. */
@NullMarked
package io.minutehand.core.command;

import org.jspecify.annotations.NullMarked;

/** The worker as a process of its own: the {@code worker} command. */
@NullMarked
package io.minutehand.worker.service;

import org.jspecify.annotations.NullMarked;

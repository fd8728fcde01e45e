/** What programs of ours that run as services have in common. */
@NullMarked
package io.minutehand.core.service;

import org.jspecify.annotations.NullMarked;

/** Settings of topics: what is stored of them, and the processes' view of it. */
@NullMarked
package io.minutehand.core.topic;

import org.jspecify.annotations.NullMarked;

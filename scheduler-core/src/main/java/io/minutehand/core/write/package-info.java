/** Writing jobs: the form in which a job is stored, the view of topics that a process keeps, and the batches that it sends to shards. */
@NullMarked
package io.minutehand.core.write;

import org.jspecify.annotations.NullMarked;

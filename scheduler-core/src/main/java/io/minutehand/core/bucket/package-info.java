/** Where a job lives: its shard, its minute bucket, and the names of the keys of both. */
@NullMarked
package io.minutehand.core.bucket;

import org.jspecify.annotations.NullMarked;

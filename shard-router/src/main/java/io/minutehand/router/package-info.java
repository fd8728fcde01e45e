/**
 * The producer's door: schedules, cancels and moves jobs.
 *
 * <p>In the order of the flow: {@link io.minutehand.router.JobRouter} and {@link io.minutehand.router.TopicHandle} take calls, {@link io.minutehand.core.write.JobForms}
 * checks and encodes them, {@code BufferGate} bounds their memory, {@code ScheduleBatcher} groups them by shard on the one thread of
 * {@code RouterLoop}, {@code Callbacks} completes the futures.
 */
@NullMarked
package io.minutehand.router;

import org.jspecify.annotations.NullMarked;

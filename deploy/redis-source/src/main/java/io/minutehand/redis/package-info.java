/**
 * Finds or starts the Redis that tests, the test kit and the demo run against. {@link io.minutehand.redis.RedisSource}
 * chooses, {@link io.minutehand.redis.RedisServer} runs a process, {@link io.minutehand.redis.RedisCommands} looks inside.
 */
@NullMarked
package io.minutehand.redis;

import org.jspecify.annotations.NullMarked;

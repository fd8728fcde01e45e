#!lua flags=no-writes,allow-oom
-- topics: reads the settings of all topics.
-- Transition: none (read).
-- KEYS:
--   1 topics    hash    settings by topic
-- ARGV: none
-- Returns: topic, settings pairs
-- Cost: O(topics).
-- Replay: a read.
local topics = KEYS[1]

return redis.call('HGETALL', topics)

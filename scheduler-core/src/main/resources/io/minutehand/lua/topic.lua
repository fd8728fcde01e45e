#!lua flags=allow-oom
-- topic: declares or changes the settings of a topic, by compare and set.
-- Transition: none of a job's.
-- KEYS:
--   1 topics    hash    settings by topic
-- ARGV:
--   1 topic
--   2 settings  text
--   3 expected  the text that the change starts from; empty: declare, only if there is none
-- Returns: SET settings (stored now) | KEPT settings (others are stored: these)
-- Cost: O(1).
-- Replay: SET, or KEPT with the very settings that were given.
local topics = KEYS[1]
local topic, settings, expected = ARGV[1], ARGV[2], ARGV[3]

local stored = redis.call('HGET', topics, topic) or ''
if stored ~= expected then return { 'KEPT', stored } end

redis.call('HSET', topics, topic, settings)
return { 'SET', settings }

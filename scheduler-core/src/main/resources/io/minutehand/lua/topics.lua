#!lua flags=no-writes,allow-oom
-- topics: reads the settings of all topics, or of some.
-- Transition: none (read).
-- KEYS:
--   1 topics    hash    settings by topic
-- ARGV: the topics asked for, 0..1000; none: all
-- Returns: topic, settings pairs; of topics that are not declared none
-- Cost: O(topics).
-- Replay: a read.
local topics = KEYS[1]

if #ARGV == 0 then return redis.call('HGETALL', topics) end
local reply = {}
for i, settings in ipairs(redis.call('HMGET', topics, unpack(ARGV))) do
  if settings then
    reply[#reply + 1] = ARGV[i]
    reply[#reply + 1] = settings
  end
end
return reply

#!lua flags=no-writes,allow-oom
-- page: reads members of a sorted set in the order of their scores.
-- Transition: none (read).
-- KEYS:
--   1 set       zset    the index, the dead letters or the list of nodes
-- ARGV:
--   1 from      lowest score, whole
--   2 skip      members from there on to leave out, 0..
--   3 limit     members at most, 1..500
-- Returns: nowUs then member, score pairs
-- Cost: O(log(set) + skip + limit).
-- Replay: a read.
-- @include clock
local set = KEYS[1]
local from, skip, limit = ARGV[1], ARGV[2], ARGV[3]

local reply = { (clock()) }
for i, value in ipairs(redis.call('ZRANGEBYSCORE', set, from, '+inf', 'WITHSCORES', 'LIMIT', skip, limit)) do
  reply[i + 1] = i % 2 == 1 and value or digits(tonumber(value))
end
return reply

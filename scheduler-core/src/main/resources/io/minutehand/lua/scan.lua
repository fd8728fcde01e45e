#!lua flags=no-writes,allow-oom
-- scan: reads some members of one of a shard's sorted sets, in no order. A member that stays is seen at least once in a whole scan.
-- Transition: none (read).
-- KEYS:
--   1 set       zset    the bucket, the in-flight set or the dead letters
-- ARGV:
--   1 cursor    0 = from the beginning, else what the call before answered
--   2 count     members to aim at, 1..500
-- Returns: the next cursor (0 = there is no more), then members
-- Cost: O(count).
-- Replay: a read.
local set = KEYS[1]
local cursor, count = ARGV[1], ARGV[2]

local page = redis.call('ZSCAN', set, cursor, 'COUNT', count)
local reply = { page[1] }
for i = 1, #page[2], 2 do reply[#reply + 1] = page[2][i] end
return reply

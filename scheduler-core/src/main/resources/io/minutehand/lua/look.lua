#!lua flags=no-writes,allow-oom
-- look: reads what a node must know of a shard: which minutes hold jobs, what is stranded, who drains.
-- Transition: none (read).
-- KEYS:
--   1 index     zset    minutes of the non-empty buckets
--   2 inflight  zset    receipts by deadline
--   then 2 a bucket that the caller asks about, 0..200 buckets: bucket zset, lease hash
-- ARGV:
--   1 untilMinute last minute of interest
--   2 limit     minutes at most, 1..500
-- Returns: nowUs, earliest deadline in flight (epoch ms, -1 = none), number in flight, next minute after untilMinute (-1 = none),
--   count and minutes (oldest first), then per bucket asked about: first due ms (-1 = empty), ms its lease still runs (-2 = free)
-- Cost: O(limit + buckets).
-- Replay: a read.
-- @include clock
-- @include wake
local index, inflight = KEYS[1], KEYS[2]
local untilMinute, limit = ARGV[1], ARGV[2]

local deadline = firstDue(inflight) or -1
local minutes = redis.call('ZRANGEBYSCORE', index, '-inf', untilMinute, 'LIMIT', 0, limit)
local following = redis.call('ZRANGEBYSCORE', index, '(' .. untilMinute, '+inf', 'LIMIT', 0, 1)
local reply = { (clock()), deadline, redis.call('ZCARD', inflight), tonumber(following[1] or '-1'), #minutes }
for _, minute in ipairs(minutes) do reply[#reply + 1] = tonumber(minute) end
for i = 3, #KEYS, 2 do
  reply[#reply + 1] = firstDue(KEYS[i]) or -1
  reply[#reply + 1] = redis.call('PTTL', KEYS[i + 1])
end
return reply

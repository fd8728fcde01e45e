#!lua flags=no-writes,allow-oom
-- buckets: reads how many jobs wait in buckets, and who drains them.
-- Transition: none (read).
-- KEYS:
--   then 2 a bucket, 1..200 buckets: bucket zset, lease hash
-- ARGV: none
-- Returns: nowUs then per bucket: jobs, first due ms (-1 = empty), ms its lease still runs (-2 = free), the lease's holder (empty = nobody)
-- Cost: O(buckets).
-- Replay: a read.
-- @include clock
-- @include wake
local reply = { (clock()) }
for i = 1, #KEYS, 2 do
  reply[#reply + 1] = redis.call('ZCARD', KEYS[i])
  reply[#reply + 1] = firstDue(KEYS[i]) or -1
  reply[#reply + 1] = redis.call('PTTL', KEYS[i + 1])
  reply[#reply + 1] = redis.call('HKEYS', KEYS[i + 1])[1] or ''
end
return reply

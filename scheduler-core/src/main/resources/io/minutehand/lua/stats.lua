#!lua flags=no-writes,allow-oom
-- stats: reads a shard's counters and sizes.
-- Transition: none (read).
-- KEYS:
--   1 ledger    hash    counters
--   2 index     zset    minutes of the non-empty buckets
--   3 inflight  zset    receipts by deadline
--   4 dead      zset    dead letters
-- ARGV: none
-- Returns: nowUs, buckets, in flight, dead, then counter name, value pairs
-- Cost: O(counters).
-- Replay: a read.
-- @include clock
local ledger, index, inflight, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local reply = { (clock()), redis.call('ZCARD', index), redis.call('ZCARD', inflight), redis.call('ZCARD', dead) }
for _, value in ipairs(redis.call('HGETALL', ledger)) do reply[#reply + 1] = value end
return reply

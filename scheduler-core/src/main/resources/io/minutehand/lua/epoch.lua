#!lua flags=allow-oom
-- epoch: tells a shard the epoch of its topic's settings.
-- Transition: none of a job's.
-- KEYS:
--   1 ledger    hash    counters and settings epoch of the shard
-- ARGV:
--   1 epoch     1..
-- Returns: nowUs, the epoch that stands now (never lower than before)
-- Cost: O(1).
-- Replay: the same answer.
-- @include clock
local ledger = KEYS[1]
local epoch = tonumber(ARGV[1])

local nowUs = clock()
local stored = tonumber(redis.call('HGET', ledger, 'epoch') or '0')
if stored >= epoch then return { nowUs, stored } end

redis.call('HSET', ledger, 'epoch', ARGV[1])
return { nowUs, epoch }
